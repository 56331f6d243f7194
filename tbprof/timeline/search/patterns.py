r"""Regular expressions in time that only grows with the text, whatever the pattern.

Python's own engine tries alternatives one after the other: `(a+)+$` takes hours on forty letters,
and nothing can interrupt it. Here a pattern becomes a machine that reads every character once. It
says whether a text holds a match, which is what a search asks; so greed, laziness and groups make
no difference. What needs more than such a machine is refused: references back to a group, looking
ahead or behind, possessive and atomic parts, conditions.

The syntax is Python's, read by its own parser. `^` and `$` are the ends of the text (of each line
with `(?m)`), `.` is anything but a line end (or anything with `(?s)`).
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tbprof.base.errors import BadRequest
from tbprof.kernels.patterns import run_machine

# Nothing but `re` reads what it means; others rely on its parser, too (hypothesis does).
_parser: Any
_codes: Any
if sys.version_info >= (3, 11):
    _parser, _codes = map(importlib.import_module, ("re._parser", "re._constants"))
else:
    _parser, _codes = map(importlib.import_module, ("sre_parse", "sre_constants"))

# Parts of a machine: `a{1000}{1000}` would have a million.
_MOST_NODES = 4000
# States found on the way; when there are so many, all but the first are forgotten.
_MOST_STATES = 8192
# Nodes visited to find them, some seconds' worth.
_MOST_WORK = 4_000_000
# Characters that are looked at together.
_BATCH = 1 << 20

# What stands on either side of a place between two characters.
_EDGE, _LINE_END, _WORD, _OTHER = range(4)
# States of the machine: a match, and the start of a text.
_MATCH, _START = 0, 1
_UNKNOWN = -1

_Test = Callable[[str], bool]
_Claim = Callable[[int, int], bool]


class Pattern:
    """A compiled pattern; raises BadRequest where the text is none that can be compiled.

    A match may begin and end anywhere, or with `is_whole` only where the text does.
    """

    def __init__(self, text: str, *, ignores_case: bool = False, is_whole: bool = False) -> None:
        self._machine = _Machine(_parse(text, ignores_case, is_whole))

    def matches(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """[n] whether each of the texts holds a match; BadRequest where that takes too long."""
        found = np.zeros(len(texts), np.bool_)
        begin = 0
        while begin < len(texts):
            end, size = begin, 0
            while end < len(texts) and (end == begin or size + len(texts[end]) <= _BATCH):
                size += len(texts[end])
                end += 1
            self._machine.run(texts[begin:end], found[begin:end])
            begin = end
        return found


def _parse(text: str, ignores_case: bool, is_whole: bool) -> "_Nodes":
    """The nodes of a pattern."""
    flags = re.IGNORECASE if ignores_case else 0
    try:
        tree = _parser.parse(text, int(flags))
        nodes = _Nodes(tree.state.flags)
        nodes.finish(tree, is_whole)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise BadRequest(
            f"{text[:200]!r} is no regular expression: {error}",
            "write a backslash before characters such as ( [ * + ? \\ that are meant as they are, "
            "or search without the regex option",
        ) from error
    return nodes


class _Nodes:
    """A machine of small parts (Thompson's), built from the end of the pattern to its start.

    A node reads a character that passes a test, or goes on to others without reading, one of them
    on a claim about the characters on both sides. Source: R. Cox, "Regular Expression Matching Can
    Be Simple And Fast", 2007.
    """

    def __init__(self, flags: int) -> None:
        self.flags = flags
        self.test: list[int] = []  # of a node that reads: which test, else -1
        self.claim: list[_Claim | None] = []
        self.onward: list[list[int]] = []
        self.tests: list[_Test] = []
        self._known: dict[tuple[str, str, int], int] = {}
        self.start = -1
        self.match = self._add([])

    def finish(self, tree: Iterable[Any], is_whole: bool) -> None:
        """Builds the nodes of a pattern in front of `match`, from `start` on."""
        if not is_whole:
            self.start = self.build(tree, self.match)
            return
        last = self._add([self.match], claim=_claim(_codes.AT_END_STRING, 0))
        first = self.build(tree, last)
        self.start = self._add([first], claim=_claim(_codes.AT_BEGINNING_STRING, 0))

    def _add(self, onward: list[int], test: int = -1, claim: _Claim | None = None) -> int:
        if len(self.onward) >= _MOST_NODES:
            raise BadRequest(
                "the regular expression is too large",
                "repeat parts of it fewer times",
            )
        self.onward.append(onward)
        self.test.append(test)
        self.claim.append(claim)
        return len(self.onward) - 1

    def build(self, tree: Iterable[Any], after: int, flags: int | None = None) -> int:
        """The node that begins a sequence of parts, which goes on to the node `after`."""
        flags = self.flags if flags is None else flags
        for code, argument in reversed(list(tree)):
            after = self._part(code, argument, after, flags)
        return after

    def _part(self, code: Any, argument: Any, after: int, flags: int) -> int:
        if code in (_codes.MAX_REPEAT, _codes.MIN_REPEAT):
            least, most, tree = argument
            return self._repeated(least, most, tree, after, flags)
        if code is _codes.SUBPATTERN:
            _, more, less, tree = argument
            return self.build(tree, after, (flags | more) & ~less)
        if code is _codes.BRANCH:
            return self._add([self.build(tree, after, flags) for tree in argument[1]])
        if code is _codes.AT:
            return self._add([after], claim=_claim(argument, flags))
        return self._add([after], test=self._tested(code, argument, flags))

    def _tested(self, code: Any, argument: Any, flags: int) -> int:
        """The row in `tests` of a part that reads a character."""
        key = (str(code), str(argument), flags)
        if key in self._known:
            return self._known[key]
        test = _test(code, argument, flags)
        if test is None:
            raise BadRequest(
                f"regular expressions with {str(code).lower().replace('_', ' ')} are not supported",
                "references back to groups, looking ahead or behind, atomic groups and conditions "
                "are left out, so that every search ends soon",
            )
        self.tests.append(test)
        self._known[key] = len(self.tests) - 1
        return self._known[key]

    def _repeated(self, least: int, most: Any, tree: Any, after: int, flags: int) -> int:
        if most is _codes.MAXREPEAT:
            loop = self._add([after])
            self.onward[loop].append(self.build(tree, loop, flags))
            after = loop
        else:
            for _ in range(min(most, _MOST_NODES) - min(least, _MOST_NODES)):
                after = self._add([self.build(tree, after, flags), after])
        for _ in range(min(least, _MOST_NODES)):
            # An empty part adds no nodes, and need not be repeated.
            before, after = after, self.build(tree, after, flags)
            if before == after:
                break
        return after


def _claim(where: Any, flags: int) -> _Claim:
    """What must hold of the characters on both sides of a place."""
    by_line = bool(flags & re.MULTILINE)
    starts = (_EDGE, _LINE_END) if by_line else (_EDGE,)
    claims: dict[Any, _Claim] = {
        _codes.AT_BEGINNING: lambda before, _: before in starts,
        _codes.AT_BEGINNING_STRING: lambda before, _: before == _EDGE,
        _codes.AT_END: lambda _, behind: behind in starts,
        _codes.AT_END_STRING: lambda _, behind: behind == _EDGE,
        _codes.AT_BOUNDARY: lambda before, behind: (before == _WORD) != (behind == _WORD),
        _codes.AT_NON_BOUNDARY: lambda before, behind: (before == _WORD) == (behind == _WORD),
    }
    return claims[where]


def _test(code: Any, argument: Any, flags: int) -> _Test | None:
    """Which characters a part of a pattern reads; None where it reads none, or more than one."""
    ignores_case = bool(flags & re.IGNORECASE)
    if code is _codes.ANY:
        return (lambda _: True) if flags & re.DOTALL else (lambda text: text != "\n")
    if code is _codes.LITERAL or code is _codes.NOT_LITERAL:
        wanted = code is _codes.LITERAL
        if not ignores_case:
            return lambda text: (ord(text) == argument) is wanted
        same = _cases(chr(argument))
        return lambda text: (not same.isdisjoint(_cases(text))) is wanted
    if code is _codes.CATEGORY:
        return _category(argument, flags)
    if code is _codes.IN:
        return _set(argument, flags)
    return None


def _set(items: Sequence[Any], flags: int) -> _Test | None:
    wanted = not any(code is _codes.NEGATE for code, _ in items)
    tests = [
        _range(*argument) if code is _codes.RANGE else _test(code, argument, flags)
        for code, argument in items
        if code is not _codes.NEGATE
    ]
    known = [test for test in tests if test is not None]
    if len(known) != len(tests):
        return None
    if flags & re.IGNORECASE:
        return lambda text: any(test(one) for one in _cases(text) for test in known) is wanted
    return lambda text: any(test(text) for test in known) is wanted


def _range(low: int, high: int) -> _Test:
    return lambda text: low <= ord(text) <= high


def _category(which: Any, flags: int) -> _Test | None:
    name = str(which).removeprefix("CATEGORY_").lower()
    wanted = not name.startswith("not_")
    letter = {"digit": r"\d", "space": r"\s", "word": r"\w"}.get(name.removeprefix("not_"))
    if letter is None:
        return None
    known = re.compile(letter, re.ASCII if flags & re.ASCII else 0)
    return lambda text: (known.match(text) is not None) is wanted


def _cases(text: str) -> set[str]:
    """A character and what differs from it by case alone."""
    forms = {text, text.lower(), text.upper(), text.lower().upper(), text.upper().lower()}
    return {form for form in forms if len(form) == 1}


class _Machine:
    """Runs nodes over texts, and remembers which sets of nodes follow each other.

    A state is the set of nodes that are reached and what was read last. Characters that pass the
    same tests are one symbol; symbol 0 is the end of the text.
    """

    def __init__(self, nodes: _Nodes) -> None:
        self._nodes = nodes
        self._work = 0
        self._class_of = np.full(sys.maxunicode + 1, -1, np.int16)
        self._symbols: dict[tuple[bool, ...], int] = {}
        self._passing: list[frozenset[int]] = [frozenset()]
        self._kind: list[int] = [_EDGE]
        self._step = np.full((64, 64), _UNKNOWN, np.int32)
        self._forget()

    def _forget(self) -> None:
        start = (frozenset[int](), _EDGE)
        self._states = [(frozenset[int](), _EDGE), start]
        self._number = {start: _START}
        self._step[:] = _UNKNOWN
        self._step[_MATCH] = _MATCH

    def run(self, texts: Sequence[str], found: NDArray[np.bool_]) -> None:
        """Sets `found` [n] where a text holds a match."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        first = np.append(0, np.cumsum(sizes))
        chars = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        self._learn(chars)
        at = np.array([0, 0, _START], np.int64)  # the text, the character, the state
        while True:
            symbol = int(run_machine(chars, first, self._class_of, self._step, at, found))
            if symbol < 0:
                return
            self._step[at[2], symbol] = self._after(int(at[2]), symbol)
            if len(self._states) > _MOST_STATES:
                self._forget()
                at[1:] = first[at[0]], _START

    def _learn(self, chars: NDArray[np.uint32]) -> None:
        """Gives the characters that were not seen before their symbols."""
        is_there = np.zeros(self._class_of.size, np.bool_)
        is_there[chars] = True
        new = np.flatnonzero(is_there & (self._class_of < 0)).tolist()
        self._count(len(new) * len(self._nodes.tests))
        word = re.compile(r"\w", self._nodes.flags & re.ASCII)
        for code in new:
            text = chr(code)
            kind = _LINE_END if text == "\n" else _WORD if word.match(text) else _OTHER
            passes = tuple(test(text) for test in self._nodes.tests)
            key = (kind == _LINE_END, kind == _WORD, *passes)
            if key not in self._symbols:
                self._symbols[key] = len(self._kind)
                self._kind.append(kind)
                self._passing.append(frozenset(at for at, one in enumerate(passes) if one))
            self._class_of[code] = self._symbols[key]
        if len(self._kind) > self._step.shape[1]:
            more = 2 * len(self._kind) - self._step.shape[1]
            self._step = np.pad(self._step, ((0, 0), (0, more)), constant_values=_UNKNOWN)
            self._step[_MATCH] = _MATCH

    def _after(self, state: int, symbol: int) -> int:
        """The number of the state that a symbol leads to."""
        reached, before = self._states[state]
        nodes, behind = self._nodes, self._kind[symbol]
        # A match may begin at every place.
        pending, seen, after = [*reached, nodes.start], set(), set()
        passing = self._passing[symbol]
        while pending:
            node = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            if node == nodes.match:
                return _MATCH
            claim = nodes.claim[node]
            if nodes.test[node] >= 0:
                if nodes.test[node] in passing:
                    after.update(nodes.onward[node])
            elif claim is None or claim(before, behind):
                pending.extend(nodes.onward[node])
        self._count(len(seen))
        return self._numbered((frozenset(after), behind))

    def _count(self, work: int) -> None:
        self._work += work
        if self._work > _MOST_WORK:
            raise BadRequest(
                "the regular expression takes too long",
                "repeat parts of it fewer times, or search for a part of the name",
            )

    def _numbered(self, state: tuple[frozenset[int], int]) -> int:
        number = self._number.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
            if number == len(self._step):
                self._step = np.pad(self._step, ((0, number), (0, 0)), constant_values=_UNKNOWN)
        return number
