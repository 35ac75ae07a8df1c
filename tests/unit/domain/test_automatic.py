"""Mail written by machines is told from mail written by people (RFC 3834, RFC 3464, RFC 5321)."""

import pytest

from ledger.domain.automatic import automatic_reason


@pytest.mark.parametrize(
    ("headers", "return_path", "sender", "reason"),
    [
        ({"Auto-Submitted": "auto-replied"}, None, None, "Auto-Submitted is auto-replied"),
        (
            {"auto-submitted": " Auto-Generated; owner-email=x"},
            None,
            None,
            "Auto-Submitted is auto",
        ),
        ({}, "", None, "the return path is empty"),
        ({}, "<>", None, "the return path is empty"),
        ({"Return-Path": " <> "}, None, None, "the return path is empty"),
        (
            {"Content-Type": "multipart/report; report-type=delivery-status"},
            None,
            None,
            "it is a delivery report",
        ),
        ({"Precedence": "bulk"}, None, None, "Precedence"),
        ({"Precedence": "Auto_Reply"}, None, None, "Precedence"),
        ({"X-Autoreply": "yes"}, None, None, "the header x-autoreply"),
        ({"X-Autorespond": ""}, None, None, "the header x-autorespond"),
        ({"X-Auto-Response-Suppress": "All"}, None, None, "the header x-auto-response-suppress"),
        ({"X-Failed-Recipients": "a@x.example"}, None, None, "the header x-failed-recipients"),
        ({"List-Id": "<l.example>"}, None, None, "the header list-id"),
        ({"Feedback-ID": "1:2"}, None, None, "the header feedback-id"),
        ({}, None, "MAILER-DAEMON@x.example", "its sender is a machine"),
        ({}, None, "no-reply@x.example", "its sender is a machine"),
    ],
)
def test_a_machine_wrote_it(
    headers: dict[str, str], return_path: str | None, sender: str | None, reason: str
) -> None:
    found = automatic_reason(headers, return_path, sender)
    assert found is not None
    assert found.startswith(reason)


@pytest.mark.parametrize(
    ("headers", "return_path", "sender"),
    [
        ({}, None, None),
        ({"Auto-Submitted": "no"}, "<pat@x.example>", "pat@x.example"),
        ({"Auto-Submitted": ""}, None, None),
        ({"Precedence": "first-class"}, None, None),
        ({"Content-Type": "text/plain"}, None, None),
        ({"X-Auto-Response-Suppress": "None"}, None, None),
        ({}, None, "noreply.fan@x.example"),
        ({"Subject": "Re: out of office"}, None, None),
    ],
)
def test_a_person_wrote_it(
    headers: dict[str, str], return_path: str | None, sender: str | None
) -> None:
    assert automatic_reason(headers, return_path, sender) is None
