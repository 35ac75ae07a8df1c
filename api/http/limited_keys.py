"""Applies a key's limits to calls that take no decision: lists, claims, leases."""

from collections.abc import Iterable

from api.contract.problems import ProblemError
from ledger.application.caller import Caller


def check_dunning(caller: Caller, stage: str | None) -> None:
    """What is due is shown to keys that may ask for reminders. Raises ProblemError."""
    if sees_its_own_only(caller):
        check_claim(caller, stage)


def check_claim(caller: Caller, stage: str | None) -> None:
    """A claim is for keys that may ask for reminders, of this stage. Raises ProblemError."""
    limits = caller.limits
    if limits is None:
        return
    if not limits.allows_dunning():
        raise ProblemError("key_limit", "this key may not ask for reminders: nothing is due for it")
    if stage is not None and not limits.allows_stage(stage):
        raise ProblemError("key_limit", f"this key may not ask for the stage {stage}")


def check_job(caller: Caller, job: str, *, named: bool = True) -> None:
    """A key with limits has leases of its own jobs only, and gives up only what it names."""
    if caller.limits is None:
        return
    if not caller.limits.allows_job(caller.name, job):
        raise ProblemError(
            "key_limit", "a key with limits has leases only of jobs of its name, or name:…"
        )
    if not named:
        raise ProblemError("key_limit", "name the holder or the token of the lease to give up")


def check_customer(caller: Caller, ids: Iterable[str]) -> None:
    """What is told of a customer is for keys that may mail them. Raises ProblemError.

    Before it is looked up: who may not mail them does not hear whether they are known.
    """
    if caller.limits is None or not sees_its_own_only(caller):
        return
    if not caller.limits.allows_customer(ids):
        raise ProblemError("key_limit", "this key may not mail this customer")


def sees_its_own_only(caller: Caller) -> bool:
    """Does the key see only what it may ask for? With limits, and no scope to read everything."""
    return caller.limits is not None and not caller.may("operate") and not caller.may("audit")
