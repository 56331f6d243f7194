"""The contents of a simulated heap after each of its events."""

import cython
from cython.cimports.tbprof.kernels.codes import HEAP_ALLOC, HEAP_FREE, HEAP_SHARE_WITH
from cython.cimports.tbprof.kernels.types import Int8s, Int32s, Ints, OutInt32s, OutInts, i64


@cython.final
@cython.cclass
class HeapEvents:
    """Events [e] of a heap: their kind, their buffer, and the one whose memory it shares.

    Buffers are rows of `size` and `unpadded`, -1 if unknown.
    """

    kind: Int8s
    buffer: Int32s
    shared: Int32s
    size: Ints
    unpadded: Ints

    def __init__(
        self, kind: Int8s, buffer: Int32s, shared: Int32s, size: Ints, unpadded: Ints
    ) -> None:
        self.kind = kind
        self.buffer = buffer
        self.shared = shared
        self.size = size
        self.unpadded = unpadded


@cython.final
@cython.cclass
class HeapLives:
    """The output: the lifetimes of the buffers' memory, in the order in which they begin.

    `owner` is the buffer that the memory was allocated for, `holder` the one that uses it when the
    lifetime begins. It lasts from event `start` until before event `end`.
    """

    owner: OutInt32s
    holder: OutInt32s
    start: OutInts
    end: OutInts

    def __init__(self, owner: OutInt32s, holder: OutInt32s, start: OutInts, end: OutInts) -> None:
        self.owner = owner
        self.holder = holder
        self.start = start
        self.end = end


@cython.ccall
@cython.exceptval(check=False)
@cython.locals(buffer=i64, index=i64, kind=cython.int, lives=i64, owner=i64, plain=i64, total=i64)
def replay_heap(
    events: HeapEvents,
    owner_of: OutInt32s,
    users: OutInts,
    life: OutInts,
    lives_of: HeapLives,
    in_use: OutInts,
    unpadded_in_use: OutInts,
) -> i64:
    """Fills in the bytes in use after each event; returns the number of lifetimes.

    Scratch by buffer: `owner_of`, at first the buffer itself; its `users`, 0; its `life`.
    """
    with cython.nogil:
        total = 0
        plain = 0
        lives = 0
        for index in range(events.kind.shape[0]):
            kind = events.kind[index]
            buffer = events.buffer[index]
            owner = events.shared[index] if kind == HEAP_SHARE_WITH else buffer
            # A buffer with its own memory keeps it.
            if buffer >= 0 and kind == HEAP_SHARE_WITH and users[buffer] > 0:
                owner = -1
            if buffer >= 0 and owner >= 0:
                if kind == HEAP_ALLOC:
                    owner_of[buffer] = buffer
                # Owners own themselves, so chains of shared buffers have no cycles.
                while owner_of[owner] != owner:
                    owner_of[owner] = owner_of[owner_of[owner]]
                    owner = owner_of[owner]
                if kind == HEAP_FREE:
                    if users[owner] > 0:
                        users[owner] -= 1
                        if users[owner] == 0:
                            total -= events.size[owner]
                            plain -= events.unpadded[owner]
                            lives_of.end[life[owner]] = index
                else:
                    if kind == HEAP_SHARE_WITH:
                        owner_of[buffer] = owner
                    users[owner] += 1
                    if users[owner] == 1:
                        total += events.size[owner]
                        plain += events.unpadded[owner]
                        life[owner] = lives
                        lives_of.owner[lives] = owner
                        lives_of.holder[lives] = buffer
                        lives_of.start[lives] = index
                        lives_of.end[lives] = events.kind.shape[0]
                        lives += 1
            in_use[index] = total
            unpadded_in_use[index] = plain
        return lives
