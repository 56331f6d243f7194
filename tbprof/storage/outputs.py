"""Files that users ask for: written as a whole, or not at all."""

import contextlib
import gzip
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tbprof.base.errors import BadRequest

# Ten times smaller, at the pace at which traces are written.
_GZIP_LEVEL = 3


def write_output(
    path: str, chunks: Iterable[bytes], on_bytes: Callable[[int], None] = lambda _size: None
) -> None:
    """Makes `path` hold the chunks, compressed where it ends in `.gz`.

    The file appears under its name when it is complete; one of that name is there until then.
    Devices and pipes are written to as they are. `on_bytes` hears how many bytes, before
    compression, have been written so far. Raises BadRequest where the file cannot be written, and
    whatever `chunks` raises.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    with _written(path, target) as file:
        with _packed(path, file) as out:
            written = 0
            for chunk in chunks:
                with _told(path):
                    out.write(chunk)
                written += len(chunk)
                on_bytes(written)
        with _told(path):
            file.flush()


@contextmanager
def _packed(path: str, file: BinaryIO) -> Iterator[BinaryIO | gzip.GzipFile]:
    """What compresses into the file where its name says so, else the file itself."""
    if not path.lower().endswith(".gz"):
        yield file
        return
    # Without name and time: equal content is equal bytes.
    out = gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)
    try:
        yield out
    finally:  # before the file is closed, whatever happened
        with _told(path):
            out.close()


@contextmanager
def _written(path: str, target: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the target's name in the end."""
    with _told(path):
        is_plain = not target.exists() or stat.S_ISREG(target.stat().st_mode)
        beside = (
            target.with_name(f".{target.name[:100]}.{os.getpid()}.part") if is_plain else target
        )
        file = beside.open("wb")
    try:
        with file:
            yield file
        if is_plain:
            with _told(path):
                beside.replace(target)
    except BaseException:
        if is_plain:
            with contextlib.suppress(OSError):
                beside.unlink()
        raise


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Failures of the file system as our error; those of whoever gives the chunks stay theirs."""
    try:
        yield
    except OSError as err:
        raise BadRequest(f"{path} cannot be written: {err.strerror or err}") from err
