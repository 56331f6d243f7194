"""Texts that make a regular expression try the most: what its parts match, repeated.

A pattern that can begin at each place and read on from there takes squared time on a text in which
it begins everywhere and never ends. Source: Davis et al., "The Impact of Regular Expression Denial
of Service (ReDoS) in Practice" (2018).
"""

import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import islice, product
from typing import Any

# By name, since type checkers differ in what they know of these.
_IS_PACKAGE = sys.version_info >= (3, 11)
codes: Any = import_module("re._constants" if _IS_PACKAGE else "sre_constants")
parser: Any = import_module("re._parser" if _IS_PACKAGE else "sre_parse")

_REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT}
# Letters that stand for what any pattern may read on over.
_COMMON = ("a", "1", " ", "_", "/", "a1_", " a", "<")
_MOST = 5  # texts of each part
_LONGEST_PUMP = 40


def attacks(pattern: str, flags: int) -> set[tuple[str, str]]:
    """(prefix, what is repeated after it) for each part of the pattern."""
    items = list(parser.parse(pattern, flags))
    pumps = {text for part in _parts(items) for text in _texts(part)}
    pumps = {pump for pump in pumps if pump and len(pump) <= _LONGEST_PUMP}
    prefixes = {"", *(text[: len(text) // 2] for text in _texts(items))}
    return set(product(prefixes, pumps | set(_COMMON)))


def _parts(items: list[Any]) -> Iterator[list[Any]]:
    """Each beginning of items that follow each other, and each set or repeat, at every depth."""
    for index, (code, argument) in enumerate(items):
        yield items[: index + 1]
        if code is not codes.LITERAL:
            yield [items[index]]
        for inner in _inside(code, argument):
            yield from _parts(list(inner))


def _inside(code: Any, argument: Any) -> list[Any]:
    if code in _REPEATS:
        return [argument[2]]
    if code is codes.SUBPATTERN:
        return [argument[3]]
    if code is codes.BRANCH:
        return list(argument[1])
    return []


def _texts(items: Iterable[Any]) -> list[str]:
    """A few texts that the items match, one after the other."""
    texts = [""]
    for code, argument in items:
        pairs = product(texts, _texts_of(code, argument) or [""])
        texts = ["".join(pair) for pair in islice(pairs, _MOST)]
    return texts


def _texts_of(code: Any, argument: Any) -> list[str]:
    if code is codes.LITERAL:
        return [chr(argument)]
    if code is codes.IN:
        return _members(argument)
    if code in _REPEATS:
        return [text * max(1, argument[0]) for text in _texts(argument[2])]
    if code in (codes.ANY, codes.NOT_LITERAL):
        return [letter for letter in "a " if code is codes.ANY or ord(letter) != argument]
    return [text for inner in _inside(code, argument) for text in _texts(inner)]


def _members(items: list[Any]) -> list[str]:
    """Letters of a set such as [a-z_]."""
    letters = "a1_ -./(<Z\n"
    members = [chr(argument) for code, argument in items if code is codes.LITERAL]
    return [letter for letter in [*members[:2], *letters] if _is_member(letter, items)][:3]


def _is_member(letter: str, items: list[Any]) -> bool:
    matches = {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W",
    }
    is_negated = items[0][0] is codes.NEGATE
    is_in = any(
        (code is codes.LITERAL and ord(letter) == argument)
        or (code is codes.RANGE and argument[0] <= ord(letter) <= argument[1])
        or (code is codes.CATEGORY and bool(re.match(matches[argument], letter)))
        for code, argument in items
    )
    return is_in != is_negated
