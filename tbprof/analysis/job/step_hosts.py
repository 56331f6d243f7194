"""The hosts whose steps are those of the job."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.steps.sources.source_words import CHOSEN, quoted_name
from tbprof.analysis.steps.steps import Steps
from tbprof.base.values import median

# Inferred steps of two hosts may be the same if those of one last at most this many times as long
# as those of the other.
_ALIKE = 1.5


def choose_hosts(
    parts: Sequence[Steps], rows: Sequence[NDArray[np.int64]]
) -> tuple[list[int], str]:
    """(the hosts whose steps count, ascending; why those of other hosts with steps do not).

    `rows` are those of each host's part that could count. If some hosts have the event that the
    user chose, only those count; else if some have marked steps, only those: inferred and marked
    steps are never mixed. If all steps are inferred, those count that begin with the event that
    begins steps on most hosts, and those of the same length.
    """
    having = [index for index, host_rows in enumerate(rows) if host_rows.size]
    chosen = [host for host in having if parts[host].source == CHOSEN]
    marked = [host for host in having if not parts[host].is_inferred]
    if chosen:
        name = quoted_name(parts[chosen[0]].marker)
        return chosen, f"it has no {name}, which was chosen to mark them"
    if marked:
        return marked, (
            "nothing in its trace marks them, and inferred steps are not mixed with marked ones"
        )
    reason = "they are inferred from another event than those of the other hosts"
    return _alike(parts, rows, having), reason


def _alike(
    parts: Sequence[Steps], rows: Sequence[NDArray[np.int64]], having: Sequence[int]
) -> list[int]:
    """The hosts whose inferred steps may be the same ones."""
    count = Counter(parts[host].marker for host in having)
    length = {host: float(median(parts[host].duration_ps[rows[host]])) for host in having}
    total = {host: int(parts[host].duration_ps[rows[host]].sum()) for host in having}
    lead = max(having, key=lambda host: (count[parts[host].marker], total[host]), default=-1)

    def is_alike(host: int) -> bool:
        short, long = sorted((length[host], length[lead]))
        return parts[host].marker == parts[lead].marker or long <= _ALIKE * short

    return [host for host in having if is_alike(host)]
