"""The language of searches: the names or values that a text matches."""

from __future__ import annotations

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
TableKind = Literal[
    "device-op", "sparse-core-op", "host-op", "kernel", "input-op", "iterator", "instruction"
]

# Hostile names may be a megabyte long; searches only look at the beginning.
MOST_CHARACTERS = 16_384
_MOST_QUERY = 4096
_SCOPED = regex(r"(whole|arg|source|category):(.*)", re.DOTALL)
_OF_CATEGORY = regex(r"category:(\w+) (whole:.*)", re.DOTALL)
_ROW = regex(
    r"(device-op|sparse-core-op|host-op|input-op|iterator|kernel|instruction):(.+)", re.DOTALL
)
_KERNEL = regex(r"(.+?)(?: op:(.*?))?(?: launch:([\d,/]*))?", re.DOTALL)
_INSTRUCTION = regex(r"(.+?)(?: program:(\d{0,20}))?", re.DOTALL)
_NUMBER = regex(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|[-+]?inf", re.ASCII)


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table: the op, kernel, instruction, input op or stage of a pipeline `name`.

    For kernels, `op` is the op that launched it and `launch` its configuration as
    "grid/block/registers/shared bytes", the last two empty if they were not recorded; None for any.
    For instructions, `program` is the id of the program, "" for none, None for any.
    """

    kind: TableKind
    name: str
    op: str | None = None
    launch: str | None = None
    program: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What a search is for.

        MatMul             events whose name, or full name, holds it
        whole:MatMul       events of exactly this name, or full name
        category:compute   events of a category
        category:compute whole:MatMul     those of exactly this name
        source:model.py    events whose line of source is known and holds it
        arg:bytes=4096     events with a stat of this key and value; a text need only hold the value
        arg:bytes          events that have the stat
        arg:long_name=f32  events whose full name holds it, the text of an HLO instruction, too

    Case matters with `has_case`, and for `whole`. With `is_regex`, `text` is a regular expression;
    it may match a part of a text, but must match a complete number, or a complete `whole` name.

    Rows of other pages' tables are queries, too: for exactly the events that a row counts.

        device-op:bert/dense/MatMul                a row of the op stats, on devices
        host-op:bert/dense/MatMul                  the same on hosts
        kernel:gemm                                all launches of a kernel
        kernel:gemm op:bert/dense/MatMul           those of one op; `op:` alone: of no op
        kernel:gemm op:bert launch:8,1,1/256,1,1/32/0   those of one configuration
        instruction:fusion.1 program:17            a row of the programs page
        input-op:Iterator::Root::Map               a row of the input pipeline analyzer
        iterator:Iterator::Root::Interleave::Map   a stage of a tf.data pipeline, all copies of it

    Names may contain spaces and colons: a kernel's ends at the first ` op:` or ` launch:`, an
    instruction's at ` program:`.
    """

    scope: Scope
    key: str
    text: str
    is_regex: bool = False
    has_case: bool = False
    row: TableRow | None = None
    category: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether it matches nothing."""
        return not (self.text or self.key)

    @property
    def needs_file(self) -> bool:
        """Whether it needs data that is only in the file: stats of events, rows of tables."""
        return self.scope in ("arg", "source") or self.row is not None


def parse_query(text: str, *, is_regex: bool = False, has_case: bool = False) -> Query:
    """The query of a text; raises BadRequest if it is invalid."""
    if len(text) > _MOST_QUERY:
        raise BadRequest(
            f"the search text has {len(text):,} characters", f"at most {_MOST_QUERY:,}"
        )
    row = _parse_row(text)
    of_category = _OF_CATEGORY.fullmatch(text)
    category, text = of_category.groups() if of_category else ("", text)
    scoped = _SCOPED.fullmatch(text)
    scope: Scope = "name"
    key = ""
    if scoped:
        scope, text = cast(Scope, scoped[1]), scoped[2]
    if scope == "arg":
        key, _, text = text.partition("=")
        if not key:
            raise BadRequest("arg: needs the key of a stat", "write arg:key=value or arg:key")
    query = Query(scope, key, text, is_regex, has_case, row, category)
    if is_regex and text:
        _pattern(query)  # raises if it is invalid
    return query


def _parse_row(text: str) -> TableRow | None:
    """The row of a table that a query is about, None for other queries."""
    match = _ROW.fullmatch(text)
    if match is None:
        return None
    kind, name = cast(TableKind, match[1]), match[2]
    if kind == "kernel" and (kernel := _KERNEL.fullmatch(name)):
        return TableRow(kind, *kernel.groups())
    if kind == "instruction" and (parts := _INSTRUCTION.fullmatch(name)):
        return TableRow(kind, parts[1], program=parts[2])
    return TableRow(kind, name)


def text_test(query: Query) -> Callable[[Sequence[str]], NDArray[np.bool_]]:
    """A function of texts: [n] which of them the query matches."""
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
    """A function of numbers: [n] which of them the expression matches, with all of their digits."""
    whole_text = Pattern(query.text, is_whole=True)
    return lambda numbers: whole_text.matches([str(number) for number in numbers])


def number_in(query: Query) -> int | float | None:
    """The number in a query, None if the text is not a number."""
    text = query.text.strip().replace(",", "").lower()
    if not _NUMBER.fullmatch(text):
        return None
    return int(text) if text.lstrip("+-").isdecimal() else float(text)


def _pattern(query: Query) -> Pattern:
    ignores_case = not query.has_case
    return Pattern(query.text, ignores_case=ignores_case, is_whole=query.scope == "whole")


def _mask(values: list[bool]) -> NDArray[np.bool_]:
    return np.array(values, np.bool_)
