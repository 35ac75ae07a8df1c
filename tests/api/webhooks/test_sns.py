"""SES over SNS: the certificate is fetched from Amazon's host, once; messages settle permits."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.api.webhooks.aws import ADDRESS, HOST, TOPIC, Aws, amazon
from tests.api.webhooks.test_deliveries import AFTER, permitted, settled
from tests.support.service import Service, fresh_service
from tests.unit.webhooks.bodies import sample

CLOCK = datetime(2027, 1, 15, 12, tzinfo=UTC)
BOUNCE = json.loads(json.loads(sample("commune/mail_ses_sns.bounce.json"))["Message"])


@dataclass(frozen=True)
class Sns:
    """A service that takes SES's posts, and what it takes for Amazon."""

    service: Service
    aws: Aws


@pytest.fixture(scope="module")
def sns(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sns]:
    """The service, told of the proxy and its authority."""
    folder: Path = tmp_path_factory.mktemp("aws")
    with amazon(folder, datetime.now(UTC), CLOCK) as aws:
        env = {
            "LEDGER_WEBHOOK_SES_SECRET": f"arn:aws:sns:us-east-1:1:another,{TOPIC}",
            "https_proxy": aws.proxy,
            "HTTPS_PROXY": aws.proxy,
            "no_proxy": "127.0.0.1",
            "SSL_CERT_FILE": str(aws.trust),
        }
        with fresh_service(postgres, CLOCK, env=env) as service:
            yield Sns(service, aws)


COPY = json.loads(json.loads(sample("mail/ses.bounce.of_the_copy_only.json"))["Message"])


def bounce(mail_id: str, email: str = "x@example.com", said: Any = BOUNCE) -> dict[str, object]:
    """The sample's bounce, of another mail and recipient."""
    told: dict[str, Any] = json.loads(json.dumps(said))
    told["mail"]["messageId"] = mail_id
    told["bounce"]["bouncedRecipients"][0]["emailAddress"] = email
    return told


def test_a_copy_alone_bounced(sns: Sns, mark: str) -> None:
    """The customer's address stays usable and the stage stays sent; the copy's is held."""
    service = sns.service
    mail = permitted(service, mark, "ses")
    service.report(mail.permit["permit_id"], "sent", provider_message_id=mail.provider_id).ok()
    copy = f"accountant.{mark}@example.net"
    sns.aws.post(bounce(mail.provider_id, copy, COPY), service.clock, mark).to(service).ok()
    assert settled(service, mail)[:3] == ("sent", "sent", 0)
    ask = {"event_type": "hello", "event_id": mark, "to": copy}
    service.ask("notification", **ask).no(409, "address_on_hold")


@pytest.mark.parametrize("early", [True, False])
def test_a_bounce_settles_the_permit_and_the_certificate_is_fetched_once(
    sns: Sns, mark: str, early: bool
) -> None:
    service = sns.service
    mail = permitted(service, mark, "ses")
    post = sns.aws.post(bounce(mail.provider_id, mail.email), service.clock, mark)
    named = {"provider_message_id": mail.provider_id, "message_id": f"<{mark}@email.ses.example>"}
    if early:
        post.to(service).ok()
    service.report(mail.permit["permit_id"], "sent", **named).ok()
    if not early:
        post.to(service).ok()
    assert settled(service, mail) == AFTER["bounced"]
    assert post.to(service).ok()["results"][0]["result"] == "duplicate"
    assert sns.aws.asked.count("/SimpleNotificationService-0123.pem") == 1


def test_a_mail_is_known_by_the_message_id_that_ses_gave_it(sns: Sns, mark: str) -> None:
    """SES replaces our Message-ID; the outcome names the new one, which reports use."""
    service = sns.service
    mail = permitted(service, mark, "ses")
    replaced = f"<0100{mark}@us-east-1.amazonses.com>"
    service.report(mail.permit["permit_id"], "sent", message_id=replaced).ok()
    told = {"provider": "ses", "event": "complained", "message_id": replaced}
    service.fact("delivery", told)
    assert settled(service, mail) == AFTER["complained"]


def test_what_is_not_signed_by_amazon_is_refused(sns: Sns, mark: str) -> None:
    service, aws, now = sns.service, sns.aws, sns.service.clock
    wrong = [
        aws.post(bounce(mark), now, TopicArn="arn:aws:sns:us-east-1:666:mine"),
        aws.post(bounce(mark), now, Signature="AAAA"),
        aws.post(bounce(mark), now, SigningCertURL=ADDRESS.replace(HOST, "evil.example")),
        aws.post(bounce(mark), now, SigningCertURL=ADDRESS.replace(HOST, f"{HOST}.evil.example")),
        aws.post(bounce(mark), now, SigningCertURL=ADDRESS.replace("https", "http")),
        aws.post(bounce(mark), now, SignatureVersion="3"),
        aws.post(bounce(mark), now - timedelta(hours=3)),
        aws.post(bounce(mark), now + timedelta(minutes=6)),
    ]
    aws.post(bounce(f"known-{mark}"), now).to(service).ok()
    position = service.get("/v1/control").ok()["position"]
    before = len(aws.asked)
    for post in wrong:
        post.to(service).no(400, "bad_signature")
    assert len(aws.asked) == before
    assert service.get("/v1/control").ok()["position"] == position


def test_a_certificate_that_amazon_does_not_have_is_asked_for_once(sns: Sns, mark: str) -> None:
    service, aws = sns.service, sns.aws
    aws.answers["/redirected.pem"] = (302, b"")
    aws.answers["/huge.pem"] = (200, b"x" * (64 * 1024 + 1))
    aws.answers["/nonsense.pem"] = (200, b"no certificate")
    for name in ("missing", "redirected", "huge", "nonsense"):
        post = aws.post(bounce(mark), service.clock, SigningCertURL=f"https://{HOST}/{name}.pem")
        for _ in range(3):
            post.to(service).no(400, "bad_signature")
        assert aws.asked.count(f"/{name}.pem") == 1


def test_where_amazon_cannot_be_asked_it_must_post_again(sns: Sns, mark: str) -> None:
    """SNS tries again after a 503; after a 400 the news would be lost."""
    service, aws = sns.service, sns.aws
    mail = permitted(service, mark, "ses")
    later = f"https://{HOST}/later.pem"
    post = aws.post(bounce(mail.provider_id, mail.email), service.clock, mark, SigningCertURL=later)
    aws.answers["/later.pem"] = (503, b"")
    answer = post.to(service).no(503, "unavailable")
    assert answer.headers["retry-after"]
    aws.answers["/later.pem"] = (200, aws.certificate)
    assert post.to(service).ok()["results"][0]["result"] == "applied"


def test_a_topic_that_asks_to_be_confirmed_is_left_to_a_person(sns: Sns, mark: str) -> None:
    service, aws = sns.service, sns.aws
    members = json.loads(aws.post({}, service.clock, mark).body)
    confirm = {"Type": "SubscriptionConfirmation", "Token": "t", "SubscribeURL": f"https://{HOST}/"}
    post = aws.confirmation(members | confirm)
    assert post.to(service).ok()["rejected"] == 1
    kept = service.get("/v1/webhooks/rejected").ok()["items"][-1]
    assert kept["reasons"][0]["kind"] == "subscription_confirmation_needed"
    assert "/" not in aws.asked
    assert len(service.alerts("ingest_rejected")) == 1
