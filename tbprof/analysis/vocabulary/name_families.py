"""Families of host event names: all names of a family are classified alike.

Thousands of names differ only in their scope or in a number: `replica_3/layer_17/mul_1:Mul`. Code
that classifies host events looks at one name of each family, and only once for all hosts, since the
hosts of a job have the same names.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbprof.analysis.vocabulary.op_names import NAMES_AT_ONCE
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass
from tbprof.events.space import Plane

_T = TypeVar("_T")

# Scopes between the first and the last part of an op's name. No classification depends on them,
# since no pattern contains a slash.
_SCOPES = regex(r"/[A-Za-z0-9_.>/-]*/")
# The number that distinguishes names of one scope.
_NUMBER = regex(r"_[0-9]+")
# Words that are searched for anywhere in a name, and the line break, where patterns stop.
_ANYWHERE = ("Infeed", "Garbage", "ompil", "\n")
# Classifications ignore everything after this many characters.
_LONGEST = 256
# Roles are small numbers, some of them negative.
_ROLES = 1 << 8
# The bytes of a name's entries in tables, and the limit of a vocabulary.
_NAME_BYTES = 256
_MOST_BYTES = 1 << 23


@dataclass(frozen=True, slots=True)
class NameFamilies:
    """The families of a plane's types of event.

    `of` [types + 1] is the family of each type, a number in the `vocabulary`; the last entry is for
    events without a type. Each Python frame is a family of its own, and so is each name that is
    longer than classifications look at.
    """

    of: NDArray[np.int64]
    vocabulary: Vocabulary

    def classify(self, classify: Callable[[str], Any], dtype: DTypeLike) -> NDArray[Any]:
        """[types + 1] what `classify` returns for each type's name.

        The results are cached by function, so it must be a module-level function, not a lambda.
        """
        return self.vocabulary.classified(classify, dtype)[self.of]

    def look_up(self, codes: Mapping[str, int]) -> NDArray[np.int8]:
        """[types + 1] the code of each type's name, 0 for names that have none."""
        code_of = np.zeros(len(self.vocabulary), np.int8)
        for name, code in codes.items():
            code_of[self.vocabulary.find(name)] = code
        return code_of[self.of]

    def classify_with_roles(
        self, classify: Callable[[str, int], Any], role: NDArray[np.int8], dtype: DTypeLike
    ) -> NDArray[Any]:
        """[types + 1] what `classify` returns for each type's name and `role` [types + 1].

        The results are cached as those of `classify`.
        """
        return self.vocabulary.classified_with_roles(classify, self.of, role, dtype)


class Vocabulary:
    """Families of names by number, and their cached classifications."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._number_of_key: dict[str, int] = {}
        self._number: dict[str, int] = {}
        self._bytes = 0
        self._classified: dict[Hashable, NDArray[Any]] = {}
        self._with_roles: dict[Hashable, dict[int, Any]] = {}

    def __len__(self) -> int:
        """The number of families."""
        return len(self._names)

    @property
    def is_full(self) -> bool:
        """Whether it takes so much memory that it should be replaced by a new one."""
        return self._bytes > _MOST_BYTES

    def take(self, families: Sequence[int]) -> list[str]:
        """One name of each of the `families`."""
        return list(map(self._names.__getitem__, families))

    def find(self, name: str) -> NDArray[np.int64]:
        """The family of a name, none if no plane has it."""
        number = self._number.get(name)
        return np.array([] if number is None else [number], np.int64)

    def add(self, names: Sequence[str]) -> NDArray[np.int64]:
        """[n] the family of each name."""
        with self._lock:
            new = [name for name in names if name not in self._number]
            for name, key in zip(new, family_keys(new), strict=True):
                number = self._number_of_key.setdefault(key, len(self._names))
                if number == len(self._names):
                    self._names.append(name)
                self._number[name] = number
            self._bytes += _bytes(new)
        return np.fromiter(map(self._number.__getitem__, names), np.int64, len(names))

    def classified(self, classify: Callable[[str], Any], dtype: DTypeLike) -> NDArray[Any]:
        """[families] what `classify` returns for a name of each."""
        # Other threads may do this at the same time, with the same result.
        known = self._classified.get(classify)
        done = 0 if known is None else known.size
        if known is None or done < len(self._names):
            more = np.array(list(map(classify, self._names[done:])), dtype)
            known = more if known is None else np.concatenate([known, more])
            self._classified[classify] = known
        return known

    def classified_with_roles(
        self,
        classify: Callable[[str, int], Any],
        family: NDArray[np.int64],
        role: NDArray[np.int8],
        dtype: DTypeLike,
    ) -> NDArray[Any]:
        """[n] what `classify` returns for a name of each `family` [n] and its `role` [n]."""
        known = self._with_roles.setdefault(classify, {})
        pairs = (family * _ROLES + role).tolist()
        for pair in {pair for pair in pairs if pair not in known}:
            number = (pair + _ROLES // 2) // _ROLES
            known[pair] = classify(self._names[number], pair - number * _ROLES)
        return np.fromiter(map(known.__getitem__, pairs), dtype, len(pairs))


_shared = Vocabulary()


def _bytes(names: Sequence[str]) -> int:
    """The approximate memory of names in a vocabulary."""
    return sum(map(len, names)) + _NAME_BYTES * len(names)


def _vocabulary_for(names: Sequence[str]) -> Vocabulary:
    """The shared vocabulary, or one for these names alone if they would take much memory."""
    global _shared
    if _bytes(names) > _MOST_BYTES:
        return Vocabulary()
    if _shared.is_full:
        _shared = Vocabulary()
    return _shared


def remembered(classify: Callable[..., _T]) -> Callable[..., _T]:
    """The classification with a cache by name, since hosts of one job have the same names.

    Very long names are not cached, since they could take much memory.
    """
    cached = functools.lru_cache(NAMES_AT_ONCE)(classify)

    @functools.wraps(classify)
    def classified(text: str, *arguments: object) -> _T:
        return cached(text, *arguments) if len(text) <= _LONGEST else classify(text, *arguments)

    return classified


def name_families(plane: Plane) -> NameFamilies:
    """The families of the names of a host plane, computed once."""
    return plane.cache.get_or_compute("name families", lambda: _find(plane))


def _find(plane: Plane) -> NameFamilies:
    texts = [*plane.types.full_names, ""]
    vocabulary = _vocabulary_for(texts)
    return NameFamilies(vocabulary.add(texts), vocabulary)


def family_keys(texts: Sequence[str]) -> list[str]:
    """[n] a key per name, equal for names of one family.

    "replica_3/layer_17/x/mul_1:Mul", "replica_0/mul_2/mul_1:Mul"  ->  "replica_0//mul_0:Mul"
    """
    keys = list(texts)
    rows = _reducible(texts)
    if not rows:
        return keys
    # One substitution over all names takes a third of the time of one per name.
    joined = _SCOPES.sub("//", "\n".join([texts[row] for row in rows]))
    for row, key in zip(rows, _NUMBER.sub("_0", joined).split("\n"), strict=True):
        keys[row] = key
    return keys


def _reducible(texts: Sequence[str]) -> list[int]:
    """The indices of names whose scopes and numbers do not matter."""
    joined = "".join(texts)
    words = [word for word in _ANYWHERE if word in joined]
    rows = list(range(len(texts)))
    if names.PYTHON_FRAME in joined:
        rows = [row for row in rows if not texts[row].startswith(names.PYTHON_FRAME)]
    if max(map(len, texts), default=0) > _LONGEST:
        rows = [row for row in rows if len(texts[row]) <= _LONGEST]
    for word in words:
        rows = [row for row in rows if word not in texts[row]]
    return rows
