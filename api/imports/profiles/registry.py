"""The profiles that `sends import --from` takes: one line each."""

from api.imports.profiles.customerio import CUSTOMERIO
from api.imports.profiles.exim import EXIM
from api.imports.profiles.mailgun import MAILGUN
from api.imports.profiles.mbox import MBOX
from api.imports.profiles.plain_csv import PLAIN_CSV
from api.imports.profiles.postfix import POSTFIX
from api.imports.profiles.postmark import POSTMARK
from api.imports.profiles.profile import Head, Profile
from api.imports.profiles.resend import RESEND
from api.imports.profiles.sendgrid import SENDGRID
from api.imports.profiles.ses import SES
from api.imports.profiles.stripe import STRIPE

_PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        SENDGRID,
        MAILGUN,
        POSTMARK,
        SES,
        RESEND,
        CUSTOMERIO,
        STRIPE,
        MBOX,
        POSTFIX,
        EXIM,
        PLAIN_CSV,
    )
}


def profile_names() -> tuple[str, ...]:
    """Every profile's name, in the order of registration."""
    return tuple(_PROFILES)


def profile(name: str) -> Profile:
    """The profile of that name. Raises KeyError."""
    return _PROFILES[name]


def guessed(head: Head) -> Profile | None:
    """The one profile that certainly knows the log; None where none does, or several."""
    known = [profile for profile in _PROFILES.values() if profile.knows(head)]
    return known[0] if len(known) == 1 else None
