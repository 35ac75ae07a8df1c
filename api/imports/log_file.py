"""The bytes of a sent log as UTF-8, read as often as needed: unpacked, whatever its encoding."""

import codecs
import gzip
import io
import shutil
import tempfile
import zlib
from typing import TYPE_CHECKING, BinaryIO

from api.imports.rows import BadLog

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_HEAD = 64 * 1024
_LONGEST = 64 * 1024**3
"""The most unpacked bytes of one log; a packed one can hold a thousand times its size."""
_LONGEST_KEPT = 8 * 1024**3
"""The most bytes of a stream that cannot be read twice, which is kept on disk for that."""
_GZIP = b"\x1f\x8b"
_PACKED = {b"PK\x03\x04": "zip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"(\xb5/\xfd": "zstd"}
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class LogFile:
    """A sent log: `opened()` begins it anew; `size` and `position` count bytes of the raw file."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.size = raw.seek(0, io.SEEK_END)

    @property
    def position(self) -> int:
        """How many bytes of the raw file are read."""
        return self._raw.tell()

    def head(self) -> bytes:
        """The first bytes of the log as UTF-8. Raises BadLog."""
        with self.opened() as stream:
            return stream.read(_HEAD)

    def opened(self) -> io.BufferedReader:
        """The log from its beginning, unpacked, as UTF-8 without a byte order mark.

        Raises BadLog, here or while it is read, for what is packed otherwise or damaged.
        """
        self._raw.seek(0)
        start = self._raw.read(8)
        self._raw.seek(0)
        for magic, name in _PACKED.items():
            if start.startswith(magic):
                raise BadLog(f"the file is packed with {name}: unpack it first, or use gzip")
        packed = start.startswith(_GZIP)
        source = gzip.GzipFile(fileobj=self._raw, mode="rb") if packed else self._raw
        return io.BufferedReader(_Utf8(source), _HEAD)


def kept(stream: BinaryIO) -> BinaryIO:
    """A stream that cannot be read twice, in a file of its own that goes when it is closed.

    Raises BadLog where it is longer than 8 GiB.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115
    shutil.copyfileobj(io.BufferedReader(_Bounded(stream, _LONGEST_KEPT)), file)
    file.seek(0)
    return file


class _Bounded(io.RawIOBase):
    """The bytes of a source up to a bound; what is damaged in them makes a BadLog."""

    def __init__(self, source: BinaryIO | gzip.GzipFile, longest: int) -> None:
        self._source, self._left, self._longest = source, longest, longest

    def readable(self) -> bool:
        return True

    def take(self, size: int) -> bytes:
        """The next bytes, none at the end."""
        try:
            chunk = self._source.read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise BadLog("the file's gzip is damaged or cut off") from None
        self._left -= len(chunk)
        if self._left < 0:
            raise BadLog(f"the log is longer than {self._longest // 1024**3} GiB: split it")
        return chunk

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        chunk = self.take(len(view))
        view[: len(chunk)] = chunk
        return len(chunk)


class _Utf8(_Bounded):
    """The source recoded to UTF-8 where it is UTF-16 or UTF-32; as it is where it is neither."""

    def __init__(self, source: BinaryIO | gzip.GzipFile) -> None:
        super().__init__(source, _LONGEST)
        start = self.take(_HEAD)
        encoding = _encoding_of(start)
        self._decoder = codecs.getincrementaldecoder(encoding)() if encoding else None
        self._ready = self._recoded(start.removeprefix(codecs.BOM_UTF8))

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        while not self._ready:
            chunk = self.take(_HEAD)
            if not chunk:
                self._ready = self._recoded(b"", final=True)
                break
            self._ready = self._recoded(chunk)
        part = self._ready[: len(view)]
        self._ready = self._ready[len(part) :]
        view[: len(part)] = part
        return len(part)

    def _recoded(self, chunk: bytes, *, final: bool = False) -> bytes:
        if self._decoder is None:
            return chunk
        try:
            return self._decoder.decode(chunk, final).encode()
        except UnicodeError:
            raise BadLog("the file's UTF-16 or UTF-32 is damaged") from None


def _encoding_of(start: bytes) -> str | None:
    """UTF-16 or UTF-32 by its byte order mark, or by the zeros of its ASCII; else None."""
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    pairs = start[:512]
    if len(pairs) >= 4 and 0 in pairs:
        if not any(pairs[1::2]) and all(pairs[0::2]):
            return "utf-16-le"
        if not any(pairs[0::2]) and all(pairs[1::2]):
            return "utf-16-be"
    return None
