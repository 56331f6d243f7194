"""Names and texts with which pages describe the source of steps."""

from __future__ import annotations

CHOSEN = "chosen"
STEPS_LINE = "steps_line"
MARKERS = "markers"
EXECUTIONS = "executions"
PATTERN = "pattern"
NONE = "none"

INFERRED = "Nothing in this trace marks steps, so they are inferred."
_LONGEST_SHOWN = 80


def quoted_name(name: str) -> str:
    """A name from a trace, quoted for a sentence and cut to 80 characters."""
    name = name.encode("utf-8", "replace").decode()  # a user's choice may hold lone surrogates
    return f"'{name}'" if len(name) <= _LONGEST_SHOWN else f"'{name[: _LONGEST_SHOWN - 1]}…'"
