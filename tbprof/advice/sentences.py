"""Figures and names, formatted for sentences."""

from __future__ import annotations


def milliseconds(value: float) -> str:
    """A duration for a sentence: three significant digits, in ms or a better unit."""
    if value < 0.9995:
        return f"{value * 1000:.3g} µs"
    if value < 999.5:
        return f"{value:.3g} ms"
    return f"{value / 1000:.3g} s" if value < 999_500 else f"{value / 1000:.0f} s"


def percent(value: float) -> str:
    """A percentage for a sentence."""
    return f"{value:.1f} %"


def size(count: float) -> str:
    """A number of bytes for a sentence."""
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if count < 1024 or unit == "TiB":
            break
        count /= 1024
    # JavaScript rounds 15.25 up, Python does not; such sizes are common.
    return f"{count:.0f} {unit}" if unit == "bytes" else f"{count * (1 + 1e-12):.3g} {unit}"


def shortened(name: str, most: int = 80) -> str:
    """A name from the trace for a sentence: on one line, and without its middle if it is long."""
    line = " ".join(name.split())
    if len(line) <= most:
        return line
    half = (most - 1) // 2
    return f"{line[:half]}…{line[-half:]}"


def owner(allocator: str) -> str:
    """The name of an allocator for a sentence, with its host if the name contains one.

    An allocator that is named by a number is the TPU with that ordinal.
    """
    host, _, name = allocator.rpartition(": ")
    allocator_name = f"TPU:{name}" if name.isdigit() else shortened(name)
    return f"{allocator_name} of {shortened(host)}" if host else allocator_name
