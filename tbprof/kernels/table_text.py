"""Rows of tables as text, of cells that were written column by column."""

import cython
from cython.cimports.tbprof.kernels.types import Bytes, IntTable, OutBytes, i64


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(at=i64, column=i64, pos=i64, row=i64)
def write_rows(
    cells: Bytes,
    first: IntTable,
    last: IntTable,
    opening: Bytes,
    between: Bytes,
    closing: Bytes,
    out: OutBytes,
) -> i64:
    """Writes every row, from `opening` to `closing` and `between` its cells; how many bytes.

    The cell of a column and row is `cells[first[column, row]:last[column, row]]`.
    """
    with cython.nogil:
        at = 0
        for row in range(first.shape[1]):
            for pos in range(opening.shape[0]):
                out[at + pos] = opening[pos]
            at += opening.shape[0]
            for column in range(first.shape[0]):
                if column > 0:
                    for pos in range(between.shape[0]):
                        out[at + pos] = between[pos]
                    at += between.shape[0]
                # Cells are short: a call for each would take longer.
                for pos in range(first[column, row], last[column, row]):
                    out[at] = cells[pos]
                    at += 1
            for pos in range(closing.shape[0]):
                out[at + pos] = closing[pos]
            at += closing.shape[0]
    return at
