"""Names of host events in families: what says what events do is the same in all of a family.

Thousands of names differ in their scope or in a number: `replica_3/layer_17/mul_1:Mul`. Whatever
classifies host events looks at one name of each family.
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

# Scopes between the first and the last that can be part of an op's name: no classification looks
# at them, as no pattern holds a slash.
_SCOPES = regex(r"/[A-Za-z0-9_.>/-]*/")
# The number that tells names of one scope apart.
_NUMBER = regex(r"_[0-9]+")
# What is looked for anywhere in a name; a line's end, which patterns stop at.
_ANYWHERE = ("Infeed", "Garbage", "ompil", "\n")
# Classifications look no farther than this, so that longer names end within it.
_LONGEST = 256


@dataclass(frozen=True, slots=True)
class NameFamilies:
    """The families of a plane's types of event: `of` [types + 1], the last for events of no type.

    `names` has one name of each. Frames of Python are families of their own, as are names longer
    than classifications look at.
    """

    of: NDArray[np.int64]
    names: list[str]

    def tell(self, classify: Callable[[str], Any], dtype: DTypeLike) -> NDArray[Any]:
        """[types + 1] what `classify` says of each type's name."""
        return np.array(list(map(classify, self.names)), dtype)[self.of]

    def tell_with(
        self, classify: Callable[[str, int], Any], role: NDArray[np.int8], dtype: DTypeLike
    ) -> NDArray[Any]:
        """[types + 1] what `classify` says of each type's name and `role` [types + 1]."""
        least = int(role.min())
        roles = int(role.max()) - least + 1
        both, code = np.unique(self.of * roles + (role - least), return_inverse=True)
        family, of_role = np.divmod(both, roles)
        found = map(classify, map(self.names.__getitem__, family), (of_role + least).tolist())
        return np.array(list(found), dtype)[code]


def remembered(classify: Callable[..., _T]) -> Callable[..., _T]:
    """The classification, which keeps what it said of names: hosts of one job have the same.

    Longer names than those of families are classified anew: they could take much memory.
    """
    known = functools.lru_cache(NAMES_AT_ONCE)(classify)

    @functools.wraps(classify)
    def classified(text: str, *more: object) -> _T:
        return known(text, *more) if len(text) <= _LONGEST else classify(text, *more)

    return classified


def name_families(plane: Plane) -> NameFamilies:
    """The families of the names of a host plane, found once."""
    return plane.cache.get_or_compute("name families", lambda: _find(plane))


def _find(plane: Plane) -> NameFamilies:
    texts = [*plane.strings.take(plane.types.name.tolist()), ""]
    keys = family_keys(texts)
    one = dict(zip(keys, texts, strict=True))
    number = dict(zip(one, range(len(one)), strict=True))
    return NameFamilies(np.array([number[key] for key in keys], np.int64), list(one.values()))


def family_keys(texts: Sequence[str]) -> list[str]:
    """[n] the same text for names of one family.

    "replica_3/layer_17/x/mul_1:Mul", "replica_0/mul_2/mul_1:Mul"  ->  "replica_0//mul_0:Mul"
    """
    keys = list(texts)
    rows = _reducible(texts)
    if not rows:
        return keys
    # One substitution over all names: as many small ones would take three times as long.
    joined = _SCOPES.sub("//", "\n".join([texts[row] for row in rows]))
    for row, key in zip(rows, _NUMBER.sub("_0", joined).split("\n"), strict=True):
        keys[row] = key
    return keys


def _reducible(texts: Sequence[str]) -> list[int]:
    """The names of which scopes and numbers say nothing."""
    joined = "".join(texts)
    words = [word for word in _ANYWHERE if word in joined]
    return [
        row
        for row, text in enumerate(texts)
        if len(text) <= _LONGEST
        and not text.startswith(names.PYTHON_FRAME)
        and not (words and any(word in text for word in words))
    ]
