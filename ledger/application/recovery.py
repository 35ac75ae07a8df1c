"""Recovery mode: what is noted once the database is known to be an older copy (design D13)."""

from datetime import datetime

from ledger.application.effects import Alert, Change, Outcome
from ledger.application.world import World
from ledger.domain.control import CONTROL_ID, Control


def note_loss(world: World, outcome: Outcome, cause: str, import_from: datetime | None) -> None:
    """Enter recovery mode and page, unless it is entered already; nothing is granted from here on.

    What was sent from `import_from` (UTC) on is to be imported; None: nobody can say from when.
    """
    if world.control.recovery_since is not None:
        return
    fields = {"cause": cause, "import_from": import_from}
    outcome.changes.append(Change(CONTROL_ID, Control.RecoveryEntered, fields))
    outcome.alerts.append(
        Alert(
            "recovery_mode",
            f"recovery_mode:{world.control.version}",
            f"the ledger is in recovery mode: {cause}",
        )
    )


def note_unknown_permit(world: World, outcome: Outcome, permit_id: str, said_by: str) -> None:
    """Somebody names a permit by our own Message-ID or token, and it is not in the database.

    The MAC in it shows that this ledger granted it, so it was lost since.
    """
    cause = f"{said_by} names permit {permit_id}, which was granted here and is not known any more"
    note_loss(world, outcome, cause, None)
