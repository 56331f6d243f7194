"""Drawn allocators that xprof 2.24.2 shows otherwise than they were used. One column is 1 µs."""

from traces.memory.allocators import Tensor, memory_trace


def address_used_again() -> bytes:
    """An address that two ops use in turn: the second one releases it."""
    return memory_trace(
        "main |a.b.B.c",
        a=Tensor(100, "first", address=64),
        b=Tensor(40, "second", address=64),
        c=Tensor(1, "last"),
    )


def lines_with_starts() -> bytes:
    """An event each of lines that start at 1 and at 5 µs."""
    return memory_trace(
        "early |a\nlate |b",
        a=Tensor(100, "early"),
        b=Tensor(10, "late"),
        line_start_ns={"early": 1_000, "late": 5_000},
    )
