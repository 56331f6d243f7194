"""Regular expressions that match in time linear in the text, by RE2.

Python's own engine backtracks: `(a+)+$` takes hours on forty letters, and nothing can interrupt it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import BadRequest

# A pattern whose states outgrow RE2's memory costs up to this many steps per character.
_MOST_INSTRUCTIONS = 4000
_MOST_SECONDS = 10.0
_TEXTS_PER_CHECK = 256


class Pattern:
    """A compiled pattern; raises BadRequest for invalid and very large patterns.

    A match may begin and end anywhere, or with `is_whole` must cover the text. Syntax:
    https://github.com/google/re2/wiki/Syntax
    """

    def __init__(self, text: str, *, ignores_case: bool = False, is_whole: bool = False) -> None:
        compiled = _compile(text, ignores_case)
        if compiled.programsize > _MOST_INSTRUCTIONS:
            raise BadRequest(
                "the regular expression is too large", "repeat parts of it fewer times"
            )
        self._match = compiled.fullmatch if is_whole else compiled.search

    def matches(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """[n] whether each of the texts contains a match; BadRequest if that takes too long."""
        is_match = np.zeros(len(texts), np.bool_)
        # The time of this thread only: the load of the machine makes no difference.
        deadline = time.thread_time() + _MOST_SECONDS
        for row, text in enumerate(texts):
            # For bytes the wrapper does not count characters, which would take as long as the
            # search.
            is_match[row] = self._match(text.encode("utf-8", "surrogatepass")) is not None
            if row % _TEXTS_PER_CHECK == 0 and time.thread_time() > deadline:
                raise BadRequest(
                    "the regular expression takes too long",
                    "repeat parts of it fewer times, or search for a part of the name",
                )
        return is_match


def _compile(text: str, ignores_case: bool) -> Any:
    import re2  # few searches use regular expressions

    options = re2.Options()
    options.case_sensitive = not ignores_case
    options.never_capture = True
    options.log_errors = False
    try:
        return re2.compile(text.encode("utf-8", "surrogatepass"), options)
    except re2.error as error:
        reason = error.args[0].decode("utf-8", "replace")
        raise BadRequest(
            f"'{text[:200]}' is not a supported regular expression: {reason}",
            "put a backslash before characters such as ( [ * + ? \\ that are meant literally, or "
            "search without the regex option; backreferences and lookarounds are not supported",
        ) from error
