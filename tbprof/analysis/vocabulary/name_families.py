"""Families of host event names: all names of a family are classified alike.

Thousands of names differ only in their scope or in a number: `replica_3/layer_17/mul_1:Mul`. Code
that classifies host events looks at one name of each family.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tbprof.analysis.vocabulary.op_names import NAMES_AT_ONCE
from tbprof.base import names
from tbprof.base.lazy import regex
from tbprof.base.records import dataclass
from tbprof.events.space import Plane

_T = TypeVar("_T")

# Scopes between the first and the last that can be part of an op's name: no classification depends
# on them, as no pattern contains a slash.
_SCOPES = regex(r"/[A-Za-z0-9_.>/-]*/")
# The number that distinguishes names of one scope.
_NUMBER = regex(r"_[0-9]+")
# Texts that are searched for anywhere in a name; and a line's end, where patterns stop.
_ANYWHERE = ("Infeed", "Garbage", "ompil", "\n")
# Classifications look no further than this.
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class NameFamilies:
    """The families of a plane's types of event.

    `of` [types + 1] is the family of each type, the last one for events without a type; `names` has
    one name of each family. Frames of Python are families of their own, as are names longer than
    classifications look at.
    """

    of: NDArray[np.int64]
    names: list[str]

    def classify(self, classify: Callable[[str], Any], dtype: DTypeLike) -> NDArray[Any]:
        """[types + 1] what `classify` returns for each type's name."""
        return np.array(list(map(classify, self.names)), dtype)[self.of]

    def classify_with_roles(
        self, classify: Callable[[str, int], Any], role: NDArray[np.int8], dtype: DTypeLike
    ) -> NDArray[Any]:
        """[types + 1] what `classify` returns for each type's name and `role` [types + 1]."""
        lowest = int(role.min())
        roles = int(role.max()) - lowest + 1
        pairs, code = np.unique(self.of * roles + (role - lowest), return_inverse=True)
        family, of_role = np.divmod(pairs, roles)
        values = map(classify, map(self.names.__getitem__, family), (of_role + lowest).tolist())
        return np.array(list(values), dtype)[code]


def remembered(classify: Callable[..., _T]) -> Callable[..., _T]:
    """The classification with a cache by name: hosts of one job have the same names.

    Names longer than those of families are not cached: they could take much memory.
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
    texts = [*plane.strings.take(plane.types.name.tolist()), ""]
    keys = family_keys(texts)
    name_of = dict(zip(keys, texts, strict=True))
    number = dict(zip(name_of, range(len(name_of)), strict=True))
    return NameFamilies(np.array([number[key] for key in keys], np.int64), list(name_of.values()))


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
    return [
        row
        for row, text in enumerate(texts)
        if len(text) <= _LONGEST
        and not text.startswith(names.PYTHON_FRAME)
        and not (words and any(word in text for word in words))
    ]
