"""How large an export may become: a name of megabytes is written for each of its events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tbprof.base.errors import TbprofError

Limited = Callable[[Iterable[bytes]], Iterator[bytes]]


class TooLarge(TbprofError):
    """An export has reached its limit."""

    code = "too_large"
    status = 413


def limit(most_bytes: int) -> Limited:
    """A function that passes pieces on, together up to `most_bytes`; it raises TooLarge beyond.

    Several iterables share the limit.
    """
    written = 0

    def limited(pieces: Iterable[bytes]) -> Iterator[bytes]:
        nonlocal written
        for piece in pieces:
            written += len(piece)
            if written > most_bytes:
                raise TooLarge(
                    f"the export exceeds its limit of {most_bytes / 1e9:.3g} GB",
                    "the trace repeats long texts: export a range of time, or allow more with the "
                    f"parameter max_gb, such as max_gb={most_bytes / 1e8:.3g}",
                )
            yield piece

    return limited
