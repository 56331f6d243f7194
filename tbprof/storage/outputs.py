"""Files that users ask for: written as a whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tbprof.base.errors import BadRequest

if TYPE_CHECKING:
    from gzip import GzipFile

# Ten times smaller, as fast as traces are written.
_GZIP_LEVEL = 3


def write_output(
    path: str, chunks: Iterable[bytes], on_bytes: Callable[[int], None] = lambda _size: None
) -> None:
    """Makes `path` hold the chunks, compressed if it ends in `.gz`.

    The file appears under its name when it is complete; an existing file stays until then.
    Devices and pipes are written to directly. `on_bytes` receives the number of bytes, before
    compression, that have been written so far. Raises BadRequest if the file cannot be written, and
    whatever `chunks` raises.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    with _written(path, target) as file:
        with _packed(path, file) as out:
            written = 0
            for chunk in chunks:
                with _write_errors(path):
                    out.write(chunk)
                written += len(chunk)
                on_bytes(written)
        with _write_errors(path):
            file.flush()


@contextmanager
def _packed(path: str, file: BinaryIO) -> Iterator[BinaryIO | GzipFile]:
    """A compressor into the file if its name ends in `.gz`, else the file itself."""
    if not path.lower().endswith(".gz"):
        yield file
        return
    from gzip import GzipFile

    # Without name and time: equal content is equal bytes.
    out = GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)
    try:
        yield out
    finally:  # before the file is closed, whatever happened
        with _write_errors(path):
            out.close()


@contextmanager
def _written(path: str, target: Path) -> Iterator[BinaryIO]:
    """A file to write to, which is renamed to the target at the end."""
    with _write_errors(path):
        is_plain = not target.exists() or stat.S_ISREG(target.stat().st_mode)
        temporary = (
            target.with_name(f".{target.name[:100]}.{os.getpid()}.part") if is_plain else target
        )
        file = temporary.open("wb")
    try:
        with file:
            yield file
        if is_plain:
            with _write_errors(path):
                temporary.replace(target)
    except BaseException:
        if is_plain:
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise


@contextmanager
def _write_errors(path: str) -> Iterator[None]:
    """Turns errors of the file system into ours. Errors of the chunks pass through."""
    try:
        yield
    except OSError as err:
        raise BadRequest(f"{path} cannot be written: {err.strerror or err}") from err
