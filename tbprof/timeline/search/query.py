"""The language of searches: which names or values a text asks for."""

import re
from collections.abc import Callable, Sequence
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import BadRequest
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass
from tbprof.timeline.search.patterns import Pattern

Scope = Literal["name", "whole", "arg", "source", "category"]

# Names go on for a megabyte where someone means harm; what a person looks for comes sooner.
MOST_CHARACTERS = 16_384
_MOST_QUERY = 4096
_SCOPED = regex(r"(whole|arg|source|category):(.*)", re.DOTALL)
_NUMBER = regex(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|[-+]?inf", re.ASCII)


@dataclass(frozen=True, slots=True)
class Query:
    """What a search is for.

        MatMul             events whose name, or full name, holds it
        whole:MatMul       events of exactly this name, or full name
        category:compute   events of a category
        source:model.py    events whose line of source is known and holds it
        arg:bytes=4096     events with a stat of this key and value; a text need only hold the value
        arg:bytes          events that have the stat
        arg:long_name=f32  events whose full name holds it, the text of an HLO instruction, too

    Case counts where `has_case`, and for `whole`. With `is_regex`, `text` is a regular expression;
    what it matches may be a part of a text, but must be all of a number, or of a `whole` name.
    """

    scope: Scope
    key: str
    text: str
    is_regex: bool
    has_case: bool


def parse_query(text: str, *, is_regex: bool = False, has_case: bool = False) -> Query | None:
    """The query, None where the text is empty; raises BadRequest where it can mean nothing."""
    if len(text) > _MOST_QUERY:
        raise BadRequest(
            f"the search text has {len(text):,} characters", f"at most {_MOST_QUERY:,}"
        )
    found = _SCOPED.fullmatch(text)
    scope: Scope = "name"
    key = ""
    if found:
        scope, text = cast(Scope, found[1]), found[2]
    if scope == "arg":
        key, _, text = text.partition("=")
        if not key:
            raise BadRequest("arg: lacks the key of a stat", "write arg:key=value or arg:key")
    elif not text:
        return None
    query = Query(scope, key, text, is_regex, has_case)
    if is_regex and text:
        _pattern(query)  # raises where it is none
    return query


def asks_file(text: str) -> bool:
    """Whether a query is answered by what only the file holds: stats of events."""
    found = _SCOPED.fullmatch(text)
    return found is not None and found[1] in ("arg", "source")


def text_test(query: Query) -> Callable[[Sequence[str]], NDArray[np.bool_]]:
    """A function of texts: [n] which of them the query asks for."""
    if query.is_regex:
        pattern = _pattern(query)
        return lambda texts: pattern.matches([text[:MOST_CHARACTERS] for text in texts])
    wanted = query.text
    if query.scope == "whole":
        return lambda texts: _mask([text == wanted for text in texts])
    if query.has_case:
        return lambda texts: _mask([wanted in text[:MOST_CHARACTERS] for text in texts])
    folded = wanted.casefold()
    return lambda texts: _mask([folded in text[:MOST_CHARACTERS].casefold() for text in texts])


def number_test(query: Query) -> Callable[[Sequence[int | float]], NDArray[np.bool_]]:
    """A function of numbers: [n] which of them the expression matches, all of their digits."""
    whole = Pattern(query.text, is_whole=True)
    return lambda numbers: whole.matches([str(number) for number in numbers])


def number_in(query: Query) -> int | float | None:
    """The number that is asked for, None where the text is none."""
    text = query.text.strip().replace(",", "").lower()
    if not _NUMBER.fullmatch(text):
        return None
    return int(text) if text.lstrip("+-").isdecimal() else float(text)


def _pattern(query: Query) -> Pattern:
    ignores_case = not query.has_case
    return Pattern(query.text, ignores_case=ignores_case, is_whole=query.scope == "whole")


def _mask(values: list[bool]) -> NDArray[np.bool_]:
    return np.array(values, np.bool_)
