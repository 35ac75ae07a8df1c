"""The providers that may post to `/v1/webhooks/{provider}`: one line each."""

from api.webhooks.chargebee import Chargebee
from api.webhooks.commune import Commune
from api.webhooks.delivery import Provider
from api.webhooks.mailgun import Mailgun
from api.webhooks.postmark import Postmark
from api.webhooks.recurly import Recurly
from api.webhooks.resend import Resend
from api.webhooks.sendgrid import SendGrid
from api.webhooks.ses import Ses
from api.webhooks.stripe import Stripe

_PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Stripe(),
        Chargebee(),
        Recurly(),
        Commune(),
        Resend(),
        Postmark(),
        SendGrid(),
        Mailgun(),
        Ses(),
    )
}


def provider(name: str) -> Provider | None:
    """The provider of that name, or None."""
    return _PROVIDERS.get(name)


def provider_names() -> tuple[str, ...]:
    """Every provider's name, in the order of registration."""
    return tuple(_PROVIDERS)
