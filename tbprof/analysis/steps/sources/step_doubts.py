"""Doubts about steps that are executions of a function or program, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tbprof.base.texts import few

# Three executions of another program, each after the same number of executions of the main one, are
# no coincidence. Helpers that take less than this share of the main program's time do not update a
# model.
_LEAST_ROUNDS = 3
_NOTABLE_SHARE = 0.02
# A graph with a smaller share of the runs has a rare shape, such as the last batch of an epoch.
_NOTABLE_GRAPH = 0.2
# How many source locations are named.
_MOST_PLACES = 3


def doubt_of_rounds(
    name: str,
    start_ps: NDArray[np.int64],
    each_ps: float,
    others: Mapping[str, tuple[NDArray[np.int64], float]],
) -> list[str]:
    """A sentence if another program runs after every few executions, which may be parts of steps.

    `start_ps`, ascending, holds the starts of the program `name`, `each_ps` is the time of one
    execution; `others` holds the same for other programs, by name.
    """
    for other, (other_start_ps, other_ps) in others.items():
        count = _between(start_ps, other_start_ps)
        if count > 1 and other_ps >= _NOTABLE_SHARE * each_ps:
            text = (
                f"{other} runs after every {count} executions of {name}. If these accumulate "
                f"gradients for one update, a step consists of {count} of them. The trace does not "
                "show this: mark the steps to be sure."
            )
            return [text]
    return []


def doubt_of_graphs(name: str, runs: NDArray[np.int64], total_ps: NDArray[np.float64]) -> list[str]:
    """A sentence if a name has several graphs that run often, so steps may mix functions.

    `runs` [graphs] is how often each graph or compiled program of the function `name` ran, and
    `total_ps` how long in total. Frameworks create one for each function, but also for each shape
    of its arguments.
    """
    is_frequent = (runs > 1) & (runs >= _NOTABLE_GRAPH * runs.sum())
    is_long = total_ps >= _NOTABLE_GRAPH * total_ps.sum()
    counts = np.sort(runs[is_frequent | is_long])[::-1].tolist()
    if len(counts) < 2 or max(counts) < 2:
        return []
    times = " and ".join(f"{count:,}" for count in counts)
    text = (
        f"{name} ran as {runs.size} different graphs, the most frequent or longest ones {times} "
        "times. If these are different functions, such as training and evaluation, the steps mix "
    )
    return [f"{text}them: mark the steps."]


def doubt_of_namesakes(name: str, places: Sequence[str]) -> list[str]:
    """A sentence if functions at several places have that name, so that steps may mix them."""
    if len(places) < 2:
        return []
    text = f"{len(places)} functions are called {name} ({few(places, _MOST_PLACES)})"
    return [f"{text}, and so are their executions: steps may mix them. Mark the steps to be sure."]


def _between(main: NDArray[np.int64], other: NDArray[np.int64]) -> int:
    """The number of `main` times between two `other` times, both ascending; 0 if it varies."""
    if other.size < _LEAST_ROUNDS:
        return 0
    before = np.searchsorted(main, other)
    counts = np.diff(before)
    count = int(counts[0])
    is_regular = bool((counts == count).all()) and max(before[0], main.size - before[-1]) <= count
    return count if is_regular else 0
