"""Links between events of different threads: who caused whom, by keys that both sides carry."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.groups import group_rows
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.kernels.groups import fill_buckets

# Where as many producers and consumers share a context it says nothing. Source: group_events.cc.
CROWD = 64

_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Ends:
    """The producers, or the consumers, of one way to link: rows [m], and columns [m] that agree.

    The first key is the one that tells most of them apart.
    """

    row: NDArray[np.int64]
    keys: list[NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Links:
    """From rows to what they caused: `row` [m] ascends, `bucket` [m] is a row of `first`.

    The consumers of bucket b are `consumer[first[b]:first[b + 1]]`; all producers of a context
    share its bucket.
    """

    row: NDArray[np.int64]
    bucket: NDArray[np.int64]
    first: NDArray[np.int64]
    consumer: NDArray[np.int64]


def join(parts: Sequence[Ends]) -> Ends:
    """All ends of the parts, of which there is one at least, in their order."""
    filled = [part for part in parts if part.row.size] or [parts[0]]
    if len(filled) == 1:
        return filled[0]
    keys = [np.concatenate(key) for key in zip(*(part.keys for part in filled), strict=True)]
    return Ends(np.concatenate([part.row for part in filled]), keys)


def link(made: Ends, used: Ends, crowd: int = CROWD) -> Links:
    """Every producer to every consumer with the same keys, crowds of both left out."""
    made, used = _among(made, used), _among(used, made)
    if not made.row.size or not used.row.size:
        return Links(_NOTHING, _NOTHING, np.zeros(1, np.int64), _NOTHING)
    # Most traces have one process and one type of context: columns that tell nothing apart.
    columns = [
        np.concatenate(pair)
        for pair in zip(made.keys, used.keys, strict=True)
        if not _is_constant(*pair)
    ]
    code, _ = group_rows(columns or [np.zeros(made.row.size + used.row.size, np.int64)])
    of_made, of_used = code[: made.row.size], code[made.row.size :]
    contexts = int(code.max()) + 1
    makers = np.bincount(of_made, minlength=contexts)
    users = np.bincount(of_used, minlength=contexts)
    is_link = (makers > 0) & (users > 0) & ((makers < crowd) | (users < crowd))
    bucket = np.cumsum(is_link) - 1
    first = np.append(0, np.cumsum(users[is_link]))
    consumer = np.empty(int(first[-1]), np.int64)
    links = is_link[of_used]
    fill_buckets(bucket[of_used[links]], used.row[links], first[:-1].copy(), consumer)
    links = is_link[of_made]
    return Links(*_by_row(made.row[links], bucket[of_made[links]]), first, consumer)


def merge(parts: Sequence[Links]) -> Links:
    """All links of the parts."""
    filled = [part for part in parts if part.row.size] or [*parts[:1]]
    if len(filled) == 1:
        return filled[0]
    first, bucket = [np.zeros(1, np.int64)], []
    buckets = consumers = 0
    for part in filled:
        bucket.append(part.bucket + buckets)
        first.append(part.first[1:] + consumers)
        buckets += part.first.size - 1
        consumers += part.consumer.size
    rows, of_row = _by_row(np.concatenate([part.row for part in filled]), np.concatenate(bucket))
    consumer = np.concatenate([part.consumer for part in filled])
    return Links(rows, of_row, np.concatenate(first), consumer)


def _among(many: Ends, few: Ends) -> Ends:
    """Those of many ends whose first key some of a few have: the others are not worth a table."""
    if many.row.size < 8 * few.row.size:
        return many
    known = unique(few.keys[0])
    if not known.size:
        return Ends(_NOTHING, [_NOTHING for _ in many.keys])
    at = np.minimum(np.searchsorted(known, many.keys[0]), known.size - 1)
    keeps = known[at] == many.keys[0]
    return Ends(many.row[keeps], [key[keeps] for key in many.keys])


def _is_constant(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    return bool((one == one[0]).all() and (other == one[0]).all())


def _by_row(
    row: NDArray[np.int64], bucket: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if (row[1:] >= row[:-1]).all():
        return row, bucket
    order = np.argsort(row, kind="stable")
    return row[order], bucket[order]
