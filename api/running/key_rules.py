"""The rules of an API key, from a request to make one and back to what a list shows."""

from typing import Any

from api.contract.keys import KeyRequest
from ledger.application.caller import Riding
from ledger.store.keys import KeyRecord, KeyRules


def rules_of(asked: KeyRequest) -> KeyRules:
    """What a key that is asked for may do beside its scopes."""
    return KeyRules(
        redeem_required=asked.redeem == "required",
        intents=asked.intents,
        transactional=asked.class_ == "transactional",
        kinds=asked.kinds,
        stages=asked.stages,
        customers=asked.customers,
        reads_addresses=asked.addresses,
        rides=Riding(asked.riding) if asked.riding is not None else None,
    )


def shown_rules(record: KeyRecord) -> dict[str, Any]:
    """A key's name, scopes and rules, as JSON."""
    rules = record.rules
    return {
        "name": record.name,
        "scopes": record.scopes,
        "redeem": record.redeem,
        "intents": rules.intents,
        "class": record.key_class,
        "kinds": rules.kinds,
        "stages": rules.stages,
        "customers": rules.customers,
        "addresses": rules.reads_addresses,
        "riding": record.riding,
    }
