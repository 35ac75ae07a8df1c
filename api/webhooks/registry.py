"""The registry of webhook providers (`/v1/webhooks/{provider}`): one line each."""

from api.webhooks.provider import Provider
from api.webhooks.providers.chargebee import Chargebee
from api.webhooks.providers.commune import Commune
from api.webhooks.providers.mailgun import Mailgun
from api.webhooks.providers.postmark import Postmark
from api.webhooks.providers.recurly import Recurly
from api.webhooks.providers.resend import Resend
from api.webhooks.providers.sendgrid import SendGrid
from api.webhooks.providers.ses import Ses
from api.webhooks.providers.stripe import Stripe

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
