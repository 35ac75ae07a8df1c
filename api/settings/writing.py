"""The writer of a process, as its settings have it: witnesses and standbys included."""

from api.settings.environment import Settings
from ledger.store.log.writer import PostgresWriter
from ledger.store.witness.shared_witness import SharedWitness
from ledger.store.witness.witness_file import Witness


def writer_of(settings: Settings, conninfo: str) -> PostgresWriter:
    """A writer that is not connected yet."""
    url = settings.witness_url
    return PostgresWriter(
        conninfo,
        witness=Witness(settings.witness_path, settings.witness_seconds),
        shared=SharedWitness(url) if url is not None else None,
        require_sync=settings.require_sync,
    )
