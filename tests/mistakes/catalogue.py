"""What a known mistake is, and the list of all of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jobs.drawn_job import DrawnJob, Truth
from jobs.pages import Pages


class Show(Protocol):
    """Opens the pages of a run of these traces, one per host."""

    def __call__(self, *traces: bytes) -> Pages: ...


@dataclass(frozen=True, slots=True)
class Mistake:
    """What xprof does, and `find`, which holds tbprof against it and says what it shows."""

    area: str
    text: str
    name: str
    find: Callable[[Show], str]


MISTAKES: list[Mistake] = []


def mistake(area: str, text: str) -> Callable[[Callable[[Show], str]], Callable[[Show], str]]:
    """Puts a function that answers what tbprof shows into the list."""

    def add(find: Callable[[Show], str]) -> Callable[[Show], str]:
        MISTAKES.append(Mistake(area, text, find.__name__, find))
        return find

    return add


def shower(folder: Path) -> Show:
    """A `Show` that keeps its logdirs in `folder`."""

    def show(*traces: bytes) -> Pages:
        logdir = folder / str(len(list(folder.iterdir())))
        logdir.mkdir()
        files = {f"host{at}": content for at, content in enumerate(traces)}
        return Pages.of(DrawnJob(files, Truth(())), logdir)

    return show


def times(pages: Pages, *columns: str) -> list[tuple[Any, ...]]:
    """Columns of the steps, in µs: "step" is `stepTimeMs`."""
    return [
        tuple(round(row[f"{name}TimeMs"] * 1e3, 6) for name in columns)
        for row in pages.steps.values()
    ]
