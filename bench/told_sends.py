"""Sends that measurements let an engine decide: one reminder for each told invoice."""

import json
from collections.abc import Sequence
from uuid import uuid4

from api.contract.permits import PERMIT_REQUEST
from api.contract.translation import Translator
from bench.told_invoices import SECRET
from ledger.application.answers import Answer
from ledger.application.caller import SYSTEM
from ledger.application.commands import Command, Redeem, RequestPermit
from ledger.application.engine import Engine
from ledger.application.world import Identity

IDENTITY = Identity(SECRET, "ledger.example")
_AT_ONCE = 500


async def take(engine: Engine, commands: Sequence[Command]) -> list[Answer]:
    """The answers to the commands, which are decided by 500 at once."""
    answers: list[Answer] = []
    for first in range(0, len(commands), _AT_ONCE):
        answers += await engine.submit_all(commands[first : first + _AT_ONCE])
    return answers


def ask(number: int) -> RequestPermit:
    """A request for the reminder of that invoice."""
    request = {"kind": "reminder", "invoices": [f"inv_{number}"], "stage": "day-3"}
    subject = Translator(IDENTITY).subject(PERMIT_REQUEST.validate_python(request))
    return RequestPermit(subject, SYSTEM, str(uuid4()), json.dumps(request).encode())


def redeem(permit_id: str) -> Redeem:
    """The redeem of a permit."""
    request = {"permit_id": permit_id, "attempt": "a1"}
    return Redeem(permit_id, "a1", SYSTEM, str(uuid4()), json.dumps(request).encode())
