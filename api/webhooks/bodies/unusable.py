"""Where a body stops making sense: one exception inside, one rejection outside."""

from collections.abc import Callable

from api.webhooks.provider import Rejected, Translation


class Unusable(Exception):
    """The body, or this part of it, cannot be used.

    `kind` is one of a few fixed words (alerts go out once per kind); `detail` may name fields by
    their place, never by their value (design D18).
    """

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.rejected = Rejected(kind, detail)


def rejecting(translate: Callable[[], Translation]) -> Translation:
    """The translation, or the rejection that stopped it.

    The last resort is wide on purpose: an error of ours in reading somebody else's body must keep
    the body and alert, not answer 5xx and have the provider post it for days (contract, Facts).
    """
    try:
        return translate()
    except Unusable as unusable:
        return Translation(rejected=(unusable.rejected,))
    except Exception as error:
        kind = type(error).__name__
        return Translation(rejected=(Rejected("translation_failed", f"{kind} in our reading"),))
