"""The mail providers that the HTTP gate knows, by the first part of the path."""

from api.gates.http.provider import Provider
from api.gates.http.providers.mailgun import Mailgun
from api.gates.http.providers.postmark import Postmark
from api.gates.http.providers.resend import Resend
from api.gates.http.providers.sendgrid import SendGrid

PROVIDERS: dict[str, Provider] = {
    one.name: one for one in (Resend(), Postmark(), SendGrid(), Mailgun())
}
