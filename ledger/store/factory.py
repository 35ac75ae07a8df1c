"""The factory by which eventsourcing's `Application` uses our log (PERSISTENCE_MODULE)."""

from typing import Any

from eventsourcing.persistence import (
    AggregateRecorder,
    ApplicationRecorder,
    InfrastructureFactory,
    InfrastructureFactoryError,
    Mapper,
    NotSupportedError,
    ProcessRecorder,
    TrackingRecorder,
    Transcoder,
)

from ledger.store.log.recorder import LedgerRecorder
from ledger.store.log.transcoding import OrjsonTranscoder, TypedMapper

DATABASE = "LEDGER_DATABASE_URL"
"""The environment variable with the conninfo of the log's database."""


class LedgerFactory(InfrastructureFactory[TrackingRecorder]):
    """Builds the recorder and the mapper of our log.

    Set PERSISTENCE_MODULE=ledger.store.factory. `Application.repository.get(aggregate_id)` then
    rebuilds our aggregates from the log. Saving through an `Application` writes only events; see
    recorder.py.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self._recorder: LedgerRecorder | None = None

    def transcoder(self) -> Transcoder:
        """Plain JSON."""
        return OrjsonTranscoder()

    def mapper(
        self, transcoder: Transcoder | None = None, mapper_class: type[Mapper[Any]] | None = None
    ) -> Mapper[Any]:
        """Our mapper. SQL reads the log too, so no other encoding, compressor or cipher is used."""
        return TypedMapper()

    def aggregate_recorder(self, purpose: str = "events") -> AggregateRecorder:
        """The log's recorder. Raises NotSupportedError for snapshots: the engine keeps its own."""
        if purpose != "events":
            raise NotSupportedError(f"the log keeps no {purpose} of the library's")
        return self.application_recorder()

    def application_recorder(self) -> ApplicationRecorder:
        """The log's recorder; every call returns the same one.

        Raises InfrastructureFactoryError where the environment names no database.
        """
        if self._recorder is None:
            conninfo = self.env.get(DATABASE)
            if not conninfo:
                raise InfrastructureFactoryError(f"set {DATABASE} to the database of the log")
            self._recorder = LedgerRecorder(conninfo)
        return self._recorder

    def tracking_recorder(
        self, tracking_recorder_class: type[TrackingRecorder] | None = None
    ) -> TrackingRecorder:
        """Raises NotSupportedError: read models keep their own checkpoints (design D15)."""
        raise NotSupportedError("read models keep checkpoints of their own")

    def process_recorder(self) -> ProcessRecorder:
        """Raises NotSupportedError: only the engine writes to the log (design D3)."""
        raise NotSupportedError("only the engine writes to the log")

    def close(self) -> None:
        """Close the recorder's connections."""
        if self._recorder is not None:
            self._recorder.close()
