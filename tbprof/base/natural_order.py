"""Natural order of names: `worker-2` before `worker-10`."""

from __future__ import annotations

from tbprof.base.lazy import regex

_NUMBER = regex(r"([0-9]{1,18})")
# Letters that are compared by their numbers.
_COMPARED = 256


def natural_order(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """A sort key that compares the numbers in names by value, and then the names themselves."""
    parts = _NUMBER.split(name[:_COMPARED])
    return tuple(
        (0, int(part), "") if index % 2 else (1, 0, part) for index, part in enumerate(parts)
    ), name
