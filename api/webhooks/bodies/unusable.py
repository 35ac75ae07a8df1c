"""The exception for an invalid body, and its conversion to a rejection."""

from collections.abc import Callable

from api.webhooks.provider import Rejected, Translation


class Unusable(Exception):
    """The body, or a part of it, cannot be used.

    `kind` is one of a few fixed words (one alert is raised per kind); `detail` may have the paths
    of fields, never their values (design D18).
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.rejected = Rejected(kind, detail)


def rejecting(translate: Callable[[], Translation]) -> Translation:
    """The result of `translate`, or a rejection if it raises.

    It catches every exception on purpose: a bug in our parsing must store the body and raise an
    alert. A 5xx would make the provider retry for days (contract, Facts).
    """
    try:
        return translate()
    except Unusable as unusable:
        return Translation(rejected=(unusable.rejected,))
    except Exception as error:
        kind = type(error).__name__
        return Translation(rejected=(Rejected("translation_failed", f"{kind} in our reading"),))
