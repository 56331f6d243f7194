"""Names, quotes and values of attributes in the text of a program."""

from __future__ import annotations

import functools
from typing import Any

from tbprof.base.lazy import regex

_ESCAPES = {ord("\\"): "\\\\", ord('"'): '\\"', ord("'"): "\\'", ord("\n"): "\\n",
            ord("\r"): "\\r", ord("\t"): "\\t"}  # fmt: skip
_ESCAPES |= {code: f"\\{code:03o}" for code in (*range(32), 127) if code not in _ESCAPES}
# Longer attributes end with "...": a kernel's code may be megabytes.
MOST_LETTERS = 2**16
_CACHED, _SHORT = 2**10, 2**12
# A quoted text, which the end of the text may cut off.
_QUOTED = regex(r'"(?:[^"\\]|\\.?)*(?:"|\Z)')


def quoted(text: str) -> str:
    """A text in quotes, escaped as in HLO; non-ASCII letters are unchanged."""
    shown = text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}..."
    return f'"{shown.translate(_ESCAPES)}"'


def one_line(name: str) -> str:
    """A name without line breaks and other control characters, which no valid program has."""
    return name if name.isprintable() else quoted(name)[1:-1]


def value_text(text: str) -> str:
    """A text unchanged if it is in braces, such as JSON or MLIR attributes, else in quotes."""
    if len(text) > MOST_LETTERS:
        return quoted(text)
    is_braced = _is_braced_short(text) if len(text) <= _SHORT else _is_braced(text)
    return text if is_braced else quoted(text)


def _is_braced(text: str) -> bool:
    """Whether a text is a single pair of matching braces. Source: XLA, LexesAsJsonDict."""
    if not text.startswith("{") or not text.isprintable():
        return False
    parts = _QUOTED.sub('"', text).split("}")
    depth = 0
    for number, part in enumerate(parts[:-1]):
        depth += part.count("{") - 1
        if depth == 0:
            return number + 2 == len(parts) and not parts[-1]
    return False


# The layers of a model repeat the same texts.
_is_braced_short = functools.lru_cache(_CACHED)(_is_braced)


def frontend_text(attributes: Any) -> str:
    """The frontend attributes of a program or an instruction, by key."""
    pairs = ",".join(
        f"{one_line(key)}={value_text(attributes.map[key])}" for key in sorted(attributes.map)
    )
    return f"frontend_attributes={{{pairs}}}"
