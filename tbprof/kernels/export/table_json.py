# cython: wraparound=False
"""Rows of tables as text, interleaved from columns of encoded cells."""

import cython
from cython.cimports.tbprof.kernels.codes import NEWLINE
from cython.cimports.tbprof.kernels.types import Bytes, OutBytes, OutInts, i64


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(byte=cython.uchar, column=i64, pos=i64, row=i64, to=i64)
def weave_rows(
    cells: Bytes, at: OutInts, rows: i64, between_cells: Bytes, between_rows: Bytes, out: OutBytes
) -> i64:
    """Writes the rows with separators between rows and cells; returns the number of bytes.

    The cells of a column follow each other in `cells` from `at` [columns] on, each followed by a
    newline. `at` is advanced.
    """
    with cython.nogil:
        to = 0
        for row in range(rows):
            for column in range(at.shape[0]):
                if column > 0:
                    for pos in range(between_cells.shape[0]):
                        out[to + pos] = between_cells[pos]
                    to += between_cells.shape[0]
                elif row > 0:
                    for pos in range(between_rows.shape[0]):
                        out[to + pos] = between_rows[pos]
                    to += between_rows.shape[0]
                pos = at[column]
                byte = cells[pos]
                # Cells are short: a call for each would take longer.
                while byte != NEWLINE:
                    out[to] = byte
                    to += 1
                    pos += 1
                    byte = cells[pos]
                at[column] = pos + 1
    return to
