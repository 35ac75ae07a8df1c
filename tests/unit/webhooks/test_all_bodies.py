"""No sample body is left out of the tables, and every one is read the same way each time."""

import pytest

from tests.unit.webhooks.bodies import (
    PAYLOADS,
    every_sample,
    known,
    provider_of,
    read,
    sample,
    settings,
)
from tests.unit.webhooks.providers import (
    test_chargebee_bodies,
    test_mail_bodies,
    test_recurly_bodies,
    test_stripe_bodies,
)

TABLES = (test_stripe_bodies, test_chargebee_bodies, test_recurly_bodies, test_mail_bodies)


def test_every_sample_has_its_expected_facts() -> None:
    covered: set[str] = set().union(*(table.COVERED for table in TABLES))
    assert covered == set(every_sample())
    assert len(covered) == 18 + 11 + 18 + 14 + 3


def test_the_samples_keep_their_attributions() -> None:
    readme = (PAYLOADS / "README.md").read_text()
    assert "BSD-3-Clause" in readme
    assert "stripe-ruby-mock" in readme


@pytest.mark.parametrize("path", every_sample())
def test_reading_twice_gives_the_same_facts(path: str) -> None:
    assert read(path) == read(path)


@pytest.mark.parametrize("path", every_sample())
def test_a_prefix_goes_in_front_of_every_invoice_and_customer(path: str) -> None:
    plain, prefixed = read(path), read(path, prefix="eu-")
    assert len(plain.facts) == len(prefixed.facts)
    for before, after in zip(plain.facts, prefixed.facts, strict=True):
        expected = {
            name: f"eu-{value}" if name in ("invoice_id", "customer_id") else value
            for name, value in before.data.items()
        }
        assert after.data == expected
        assert (after.id, after.type, after.time) == (before.id, before.type, before.time)


@pytest.mark.parametrize("path", every_sample())
def test_other_providers_reject_or_ignore_it(path: str) -> None:
    body = sample(path)
    for name in ("stripe", "chargebee", "recurly", "mailgun", "ses", "sendgrid"):
        if name != provider_of(path):
            translation = known(name).translate({}, body, settings(name))
            assert translation.facts == ()
            assert translation.rejected
