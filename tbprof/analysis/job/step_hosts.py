"""Chooses the hosts whose steps are used for the job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.steps.sources.source_words import CHOSEN, quoted_name
from tbprof.analysis.steps.steps import Steps
from tbprof.base.values import median

# Inferred steps of two hosts may be the same steps if their median durations differ by at most this
# factor.
_ALIKE = 1.5


def choose_hosts(
    parts: Sequence[Steps], rows: Sequence[NDArray[np.int64]]
) -> tuple[list[int], str]:
    """Return (hosts whose steps are used, ascending; the reason for excluding other hosts).

    `rows` are the candidate rows of each host's part; hosts without any are in neither group. If
    some hosts have the event that the user chose, only these are used; otherwise, if some have
    marked steps, only these: inferred and marked steps are never mixed. If all steps are inferred,
    those that begin with the most common event are used, and those of about the same duration.
    """
    having = [index for index, host_rows in enumerate(rows) if host_rows.size]
    chosen = [host for host in having if parts[host].source == CHOSEN]
    marked = [host for host in having if not parts[host].is_inferred]
    if chosen:
        name = quoted_name(parts[chosen[0]].marker)
        return chosen, f"it has no {name} events, which were chosen as step markers"
    if marked:
        return marked, (
            "nothing in its trace marks them, and inferred steps are not mixed with marked steps"
        )
    reason = "they are inferred from a different event than the steps of the other hosts"
    return _alike(parts, rows, having), reason


def _alike(
    parts: Sequence[Steps], rows: Sequence[NDArray[np.int64]], having: Sequence[int]
) -> list[int]:
    """Return the hosts whose inferred steps may be the same steps."""
    count = Counter(parts[host].marker for host in having)
    length = {host: float(median(parts[host].duration_ps[rows[host]])) for host in having}
    total = {host: int(parts[host].duration_ps[rows[host]].sum()) for host in having}
    lead = max(having, key=lambda host: (count[parts[host].marker], total[host]), default=-1)

    def is_alike(host: int) -> bool:
        short, long = sorted((length[host], length[lead]))
        return parts[host].marker == parts[lead].marker or long <= _ALIKE * short

    return [host for host in having if is_alike(host)]
