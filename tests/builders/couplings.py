"""What ties workers together, made by hand."""

from collections.abc import Sequence

import numpy as np

from tbprof.analysis.job.coupling import Coupling

ALL_REDUCE, MATMUL, ADD = 7, 100, 101


def coupling_of(
    workers: Sequence[str],
    *,
    exchanges: Sequence[int] = (ALL_REDUCE,),
    ran: Sequence[int] = (MATMUL, ADD),
    kind: int = 1,
) -> Coupling:
    """One host, whose workers all ran names of these hashes."""
    names = [*((exchange, kind) for exchange in exchanges), *((one, 0) for one in ran)]
    nothing = np.empty(0, np.int64)
    return Coupling(
        list(workers),
        np.repeat(np.arange(len(workers), dtype=np.int32), len(names)),
        np.array([one for one, _ in names] * len(workers), np.int64),
        np.array([how for _, how in names] * len(workers), np.int8),
        nothing.astype(np.int32),
        nothing.astype(np.int32),
        nothing,
        nothing,
    )
