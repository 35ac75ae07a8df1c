"""The folder of an export: a local one, or any that fsspec knows by its URL.

A local file is written beside its place and moved there. An object of a store is seen once it is
closed. In both cases it belongs to the export once a manifest names it.
"""

import contextlib
import fcntl
import hashlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from api.exports.manifest import FOLDER, BadExport, Manifest, digest_of, read_manifest

_UNFINISHED = "_unfinished"
_LOCK = "_lock"
_OWN = re.compile(rf"{_UNFINISHED}/.+|[a-z]+/day=[-\d]+/\d{{12}}-\d{{12}}\.[a-z]+")
"""The paths of files that an export writes."""


class HashedFile:
    """A file that is written from start to end, and its sha256; for pyarrow's writers too."""

    closed = False

    def __init__(self, file: Any) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0

    def write(self, data: Any) -> int:
        """Write bytes or a buffer."""
        view = memoryview(data)
        self._hash.update(view)
        self._file.write(view)
        self.size += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        """How many bytes were written."""
        return self.size

    def flush(self) -> None:
        """Does nothing: the file is complete when it is closed."""

    @property
    def sha256(self) -> str:
        """The sha256 of what was written, as hex digits."""
        return self._hash.hexdigest()


class ExportFolder:
    """The files of an export, by their paths below its root."""

    def __init__(self, url: str) -> None:
        self._files, self._root = fsspec.core.url_to_fs(url)
        self._local = isinstance(self._files, LocalFileSystem)

    def full(self, path: str) -> str:
        """The path as the file system knows it."""
        return posixpath.join(self._root, path)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other exports away from a local folder. Raises BadExport where one is at work."""
        if not self._local:
            yield
            return
        Path(self._root).mkdir(parents=True, exist_ok=True)
        with open(self.full(_LOCK), "w", encoding="ascii") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BadExport(f"another export to {self._root} is at work") from None
            yield

    @contextlib.contextmanager
    def writing(self, path: str) -> Iterator[HashedFile]:
        """A new file, which waits beside its place until `settle` where the folder is local."""
        place = self.full(self._waiting(path))
        self._files.makedirs(posixpath.dirname(place), exist_ok=True)
        with self._files.open(place, "wb") as file:
            yield HashedFile(file)

    def settle(self, paths: list[str]) -> None:
        """Put files to their places, once all of a range are complete."""
        if not self._local:
            return
        for path in paths:
            target = Path(self.full(path))
            target.parent.mkdir(parents=True, exist_ok=True)
            Path(self.full(self._waiting(path))).replace(target)

    def add_manifest(self, manifest: Manifest) -> str:
        """Write the manifest, which makes its files part of the export; answers its digest."""
        text = manifest.text()
        with self.writing(manifest.path) as file:
            file.write(text)
        self.settle([manifest.path])
        return digest_of(text)

    def manifests(self) -> list[tuple[Manifest, str]]:
        """Every manifest with its digest, in the order of their ranges. Raises BadExport."""
        names = [path for path in self.paths() if path.startswith(f"{FOLDER}/")]
        found = []
        for name in names:
            text = self.read(name)
            found.append((read_manifest(name, text), digest_of(text)))
        return found

    def paths(self) -> list[str]:
        """Every file below the root, sorted."""
        if not self._files.exists(self._root):
            return []
        root = self._files._strip_protocol(self._root).rstrip("/") + "/"
        return sorted(path.removeprefix(root) for path in self._files.find(self._root))

    def open(self, path: str) -> Any:
        """A file to be read. Raises FileNotFoundError."""
        return self._files.open(self.full(path), "rb")

    def read(self, path: str) -> bytes:
        """All of a small file."""
        with self.open(path) as file:
            content: bytes = file.read()
        return content

    def clear(self, known: set[str]) -> list[str]:
        """Remove the files of a range that was not completed: those that no manifest names."""
        gone = [path for path in self.paths() if path not in known and _OWN.fullmatch(path)]
        for path in gone:
            self._files.rm_file(self.full(path))
        return gone

    def _waiting(self, path: str) -> str:
        return f"{_UNFINISHED}/{path.replace('/', '__')}" if self._local else path
