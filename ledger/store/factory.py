"""Lets the library's `Application` work on our log: PERSISTENCE_MODULE=ledger.store.factory."""

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
"""The environment's name for the database of the log."""


class LedgerFactory(InfrastructureFactory[TrackingRecorder]):
    """Builds the recorder and the mapper of our log.

    `Application.repository.get(aggregate_id)` gives our aggregates as the log tells them. Saving
    through an `Application` writes events alone; see recorder.py.
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
        """Our mapper: the log is read by SQL too, so other codings and ciphers cannot be set."""
        return TypedMapper()

    def aggregate_recorder(self, purpose: str = "events") -> AggregateRecorder:
        """The log's recorder. Snapshots are the engine's own: raises NotSupportedError for them."""
        if purpose != "events":
            raise NotSupportedError(f"the log keeps no {purpose} of the library's")
        return self.application_recorder()

    def application_recorder(self) -> ApplicationRecorder:
        """The log's recorder, the same one for each call.

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
        """Raises NotSupportedError: read models keep checkpoints of their own (design D15)."""
        raise NotSupportedError("read models keep checkpoints of their own")

    def process_recorder(self) -> ProcessRecorder:
        """Raises NotSupportedError: only the engine writes to the log (design D3)."""
        raise NotSupportedError("only the engine writes to the log")

    def close(self) -> None:
        """Close the recorder's connections."""
        if self._recorder is not None:
            self._recorder.close()
