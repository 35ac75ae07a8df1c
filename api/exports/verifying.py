"""Proves the files of an export: by their manifests, the hash chain, and the ledger's own log."""

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import psycopg

from api.exports.folder import ExportFolder
from api.exports.manifest import FOLDER, BadExport, FileEntry, Manifest
from api.exports.stored_events import StoredEvent, count_rows, stored_events
from ledger.store.hashchain import row_hash
from ledger.store.looking_back.audit import Checkpoint, stored_checkpoint
from ledger.store.looking_back.checkpoints import epoch_of
from projections.exported_tables import decided, range_of

_CHUNK = 2**20
Progress = Callable[[int, int], None]
"""Called with the number of files that were checked, and of all."""


@dataclass(slots=True)
class Proof:
    """What was checked, and every problem that was found, in words with the file's path.

    `position` and `hash` are the end of the export; `events` counts those whose chain was computed.
    """

    problems: list[str] = field(default_factory=list)
    files: int = 0
    events: int = 0
    position: int = 0
    hash: str = ""

    @property
    def ok(self) -> bool:
        """Is everything as it was exported?"""
        return not self.problems


def verify_export(
    url: str,
    conninfo: str | None,
    against: Sequence[Checkpoint] = (),
    progress: Progress | None = None,
) -> Proof:
    """Check every file of an export.

    Without a conninfo the files are proven among themselves; with one, by the log, too. Checkpoints
    that lie within the export must fit its events. Raises BadExport, psycopg.Error, OSError.
    """
    folder = ExportFolder(url)
    manifests = folder.manifests()
    if not manifests:
        raise BadExport(f"there is no export in {url}")
    proof = Proof()
    _check_manifests(manifests, proof)
    _check_unnamed(folder, [manifest for manifest, _ in manifests], proof)
    total = sum(len(t.files) for m, _ in manifests for t in m.tables.values())
    for manifest, _ in manifests:
        for table in manifest.tables.values():
            for file in table.files:
                _check_file(folder, file, manifest.format, proof)
                if progress is not None:
                    progress(proof.files, total)
        if "events" in manifest.tables:
            _check_chain(folder, manifest, against, proof)
        if conninfo is not None:
            _check_log(conninfo, manifest, proof)
    last = manifests[-1][0]
    proof.position, proof.hash = last.to_position, last.head_hash
    return proof


def _check_manifests(manifests: list[tuple[Manifest, str]], proof: Proof) -> None:
    """Each range begins where the one before it ends, and names its manifest."""
    before: tuple[Manifest, str] | None = None
    for manifest, digest in manifests:
        if before is not None:
            last, named = before
            if (manifest.from_position, manifest.from_hash) != (last.to_position, last.head_hash):
                proof.problems.append(
                    f"{manifest.path} begins at {manifest.from_position}, "
                    f"the range before it ends at {last.to_position}"
                )
            if manifest.previous != named:
                proof.problems.append(f"{last.path} is not what {manifest.path} names: changed")
        elif manifest.previous is not None:
            proof.problems.append(f"{manifest.path} names a manifest before it, which is missing")
        before = (manifest, digest)


def _check_unnamed(folder: ExportFolder, manifests: list[Manifest], proof: Proof) -> None:
    """Files that readers would take for a part of the export."""
    known = {f.path for m in manifests for table in m.tables.values() for f in table.files}
    tables = {name for manifest in manifests for name in manifest.tables}
    for path in folder.paths():
        if path.partition("/")[0] in tables and path not in known:
            proof.problems.append(f"{path} is in no manifest")
        if path.startswith(f"{FOLDER}/") and path not in {m.path for m in manifests}:
            proof.problems.append(f"{path} is not named after its range")


def _check_file(folder: ExportFolder, named: FileEntry, format: str, proof: Proof) -> None:
    proof.files += 1
    hashed, size = hashlib.sha256(), 0
    try:
        with folder.open(named.path) as file:
            while block := file.read(_CHUNK):
                hashed.update(block)
                size += len(block)
    except FileNotFoundError:
        proof.problems.append(f"{named.path} is missing")
        return
    if hashed.hexdigest() != named.sha256:
        proof.problems.append(f"{named.path} was changed: its sha256 is another one")
        return
    rows = count_rows(folder, named.path, format)
    if rows != named.rows:
        proof.problems.append(f"{named.path} has {rows} rows, its manifest says {named.rows}")


def _check_chain(
    folder: ExportFolder, manifest: Manifest, against: Sequence[Checkpoint], proof: Proof
) -> None:
    """Compute the chain over the events of a range; it must lead from one end to the other."""
    position, before = manifest.from_position, bytes.fromhex(manifest.from_hash)
    kept = {checkpoint.position: checkpoint.hash for checkpoint in against}
    with closing(_events(folder, manifest)) as events:
        for event in events:
            position += 1
            if event.position != position:
                proof.problems.append(f"events: position {position} is missing")
                return
            before = row_hash(before, *event.hashed)
            if before != event.hash:
                proof.problems.append(f"events: position {position} is not what was logged")
                return
            if kept.get(position, before) != before:
                proof.problems.append(f"events: position {position} contradicts a checkpoint")
                return
            proof.events += 1
    if (position, before.hex()) != (manifest.to_position, manifest.head_hash):
        proof.problems.append(
            f"{manifest.path}: the events lead to another end than position {manifest.to_position}"
        )


def _events(folder: ExportFolder, manifest: Manifest) -> Generator[StoredEvent, None, None]:
    """The events of a range, day by day; none of a file that cannot be read, which was told."""
    for file in sorted(manifest.tables["events"].files, key=lambda each: each.path):
        try:
            yield from stored_events(folder, file.path, manifest.format)
        except (OSError, ValueError):
            return


def _check_log(conninfo: str, manifest: Manifest, proof: Proof) -> None:
    """The range ends at the hash that the log has there, and its decisions are those of the log."""
    if manifest.ledger != epoch_of(conninfo):
        raise BadExport(f"it is an export of the ledger {manifest.ledger}, not of this one")
    stored = stored_checkpoint(conninfo, manifest.to_position)
    if stored is None or stored.hash.hex() != manifest.head_hash:
        proof.problems.append(
            f"{manifest.path}: the log has another event at position {manifest.to_position}"
        )
        return
    if not {"decisions", "denials"} & set(manifest.tables):
        return
    with psycopg.connect(conninfo, options="-c timezone=UTC") as connection:
        now = decided(
            connection, range_of(connection, manifest.from_position, manifest.to_position)
        )
    for name, count in now.items():
        exported = manifest.tables.get(name)
        # Fewer are there where a month was removed from the decision log.
        if exported is not None and exported.rows < count:
            proof.problems.append(
                f"{manifest.path}: {count - exported.rows} {name} of the range came later"
            )
