"""Makes commands of a permit's later life, redeem and outcome: part of the hot path (D4)."""

import uuid
from typing import Any, TypeVar

import orjson
from pydantic import ValidationError

from api.contract.outcomes import OutcomeItem, OutcomeRequest
from api.contract.permits import RedeemItem, RedeemRequest
from api.contract.problems import ProblemError, invalid_answer, problem_answer
from api.http.permit_request import kept_redeem
from api.running.decision_ids import DECISION_IDS
from ledger.application.answers import Answer
from ledger.application.caller import Caller
from ledger.application.commands import Correction, Redeem, ReportOutcome
from ledger.application.counters import Counters
from ledger.application.skipped_redeem import SKIPPED

_NO_PERMIT = str(uuid.UUID(int=0))
_WARNS_OF_SKIPPED = ("Ledger-Warning", SKIPPED)
Item = TypeVar("Item", RedeemItem, OutcomeItem)


def permit_id_of(text: str) -> str:
    """The permit's id, or one that is nobody's: the engine tells a revoked key before the 404."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        return _NO_PERMIT


def known_uuid(text: str) -> str:
    """Normalise a UUID. Raises ProblemError for a text that cannot be a permit's id."""
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise ProblemError("unknown_permit", "there is no such permit") from None


def redeem_of(caller: Caller, permit_id: str, asked: RedeemRequest) -> Redeem:
    """The command to redeem a permit; an id that cannot be one is nobody's."""
    name = permit_id_of(permit_id)
    return Redeem(name, asked.attempt, caller, DECISION_IDS.next(), kept_redeem(name, asked))


def outcome_of(caller: Caller, permit_id: str, told: OutcomeRequest) -> ReportOutcome | Answer:
    """The command that reports an outcome, or the 403 to a correction by who may not correct."""
    correction = None
    if told.correction is not None:
        if not caller.may("operate"):
            return problem_answer("forbidden", "a correction needs the scope operate")
        correction = Correction(told.correction.by, told.correction.reason)
    return ReportOutcome(
        permit_id_of(permit_id),
        told.outcome,
        caller,
        told.provider,
        told.provider_message_id,
        told.message_id,
        told.detail,
        correction,
    )


def count_skipped(counters: Counters, answer: Answer) -> Answer:
    """The answer to a report, counted where it warns that nobody redeemed the mail's permit."""
    if _WARNS_OF_SKIPPED in answer.headers:
        counters.redeems_skipped += 1
    return answer


def redeem_item(caller: Caller, raw: Any) -> Redeem | Answer:
    """The command of one item of a batch, or the 422 to it."""
    asked = _read(RedeemItem, raw)
    return asked if isinstance(asked, Answer) else redeem_of(caller, asked.permit_id, asked)


def outcome_item(caller: Caller, raw: Any) -> ReportOutcome | Answer:
    """The command of one item of a batch, or the 422 or 403 to it."""
    told = _read(OutcomeItem, raw)
    return told if isinstance(told, Answer) else outcome_of(caller, told.permit_id, told)


def _read(item: type[Item], raw: Any) -> Item | Answer:
    """One item of a batch, or the 422 to what is none; the others of the batch go on."""
    try:
        return item.model_validate_json(orjson.dumps(raw))
    except ValidationError as error:
        return invalid_answer(error)
    except orjson.JSONEncodeError:
        return problem_answer("invalid_request", "the request is nested too deeply")
