"""Regular expressions as a machine of states."""

import cython
from cython.cimports.tbprof.kernels.types import (
    Int16s,
    Int32Table,
    Ints,
    OutFlags,
    OutInts,
    Uint32s,
    i64,
)


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(after=i64, end=i64, place=i64, state=i64, symbol=i64, text=i64)
def run_machine(
    chars: Uint32s, first: Ints, class_of: Int16s, step: Int32Table, at: OutInts, found: OutFlags
) -> i64:
    """The symbol for which the state has no step yet, -1 when all texts are done.

    Goes on from the text, the character and the state in `at`. `first` [n + 1] are the texts'
    places in `chars`, `class_of` the symbols of characters, `step` [states, symbols] what follows.
    """
    with cython.nogil:
        text = at[0]
        place = at[1]
        state = at[2]
        while text < first.shape[0] - 1:
            end = first[text + 1]
            while place <= end:
                symbol = class_of[chars[place]] if place < end else 0
                after = step[state, symbol]
                if after < 0:
                    at[0] = text
                    at[1] = place
                    at[2] = state
                    return symbol
                if after == 0:
                    found[text] = True
                    break
                state = after
                place += 1
            text += 1
            place = end
            state = 1
        return -1
