"""Links from events to those that they caused on other threads, by keys that both have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.spans.groups import group_rows
from tbprof.base.records import dataclass
from tbprof.base.values import unique
from tbprof.kernels.analysis.row_groups import fill_buckets

# A context with this many producers and consumers is ignored. Source: group_events.cc.
CROWD = 64

_NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Ends:
    """The producers, or the consumers, of one kind of link: rows [m], and columns [m] of keys.

    A producer and a consumer are linked if all their keys are equal. The first key should be the
    most selective one.
    """

    row: NDArray[np.int64]
    keys: list[NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Links:
    """Links from rows to the rows that they caused.

    `row` [m] ascends, `bucket` [m] is an index into `first`. The consumers of bucket b are
    `consumer[first[b]:first[b + 1]]`; all producers of a context share its bucket.
    """

    row: NDArray[np.int64]
    bucket: NDArray[np.int64]
    first: NDArray[np.int64]
    consumer: NDArray[np.int64]


def join(parts: Sequence[Ends]) -> Ends:
    """The ends of all parts, in order; there is at least one part."""
    filled = [part for part in parts if part.row.size] or [parts[0]]
    if len(filled) == 1:
        return filled[0]
    keys = [np.concatenate(key) for key in zip(*(part.keys for part in filled), strict=True)]
    return Ends(np.concatenate([part.row for part in filled]), keys)


def link(producers: Ends, consumers: Ends, crowd: int = CROWD) -> Links:
    """Links from every producer to every consumer with equal keys, except in crowded contexts."""
    if producers.row.size and consumers.row.size:
        producers, consumers = _among(producers, consumers), _among(consumers, producers)
    if not producers.row.size or not consumers.row.size:
        return Links(_NOTHING, _NOTHING, np.zeros(1, np.int64), _NOTHING)
    # Constant columns are useless: most traces have one process and one type of context.
    columns = [
        np.concatenate(pair)
        for pair in zip(producers.keys, consumers.keys, strict=True)
        if not _is_constant(*pair)
    ]
    code, _ = group_rows(columns or [np.zeros(producers.row.size + consumers.row.size, np.int64)])
    producer_code, consumer_code = code[: producers.row.size], code[producers.row.size :]
    contexts = int(code.max()) + 1
    producer_count = np.bincount(producer_code, minlength=contexts)
    consumer_count = np.bincount(consumer_code, minlength=contexts)
    is_link = (
        (producer_count > 0)
        & (consumer_count > 0)
        & ((producer_count < crowd) | (consumer_count < crowd))
    )
    bucket = np.cumsum(is_link) - 1
    first = np.append(0, np.cumsum(consumer_count[is_link]))
    consumer = np.empty(int(first[-1]), np.int64)
    links = is_link[consumer_code]
    fill_buckets(bucket[consumer_code[links]], consumers.row[links], first[:-1].copy(), consumer)
    links = is_link[producer_code]
    return Links(*_by_row(producers.row[links], bucket[producer_code[links]]), first, consumer)


def merge_links(parts: Sequence[Links]) -> Links:
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


def _among(ends: Ends, others: Ends) -> Ends:
    """The ends whose first key occurs among the others; the rest need not be grouped."""
    if ends.row.size < 8 * others.row.size:
        return ends
    known_keys = unique(others.keys[0])
    index = np.minimum(np.searchsorted(known_keys, ends.keys[0]), known_keys.size - 1)
    keeps = known_keys[index] == ends.keys[0]
    return Ends(ends.row[keeps], [key[keeps] for key in ends.keys])


def _is_constant(column: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    return bool((column == column[0]).all() and (other == column[0]).all())


def _by_row(
    row: NDArray[np.int64], bucket: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if (row[1:] >= row[:-1]).all():
        return row, bucket
    order = np.argsort(row, kind="stable")
    return row[order], bucket[order]
