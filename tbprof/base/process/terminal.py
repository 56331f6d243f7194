"""Texts of traces and of other programs on a terminal, and a progress line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from threading import Event

    from tqdm import tqdm

_AFTER_S = 0.7


def printable(text: str) -> str:
    """`text` with control characters escaped, which a terminal would interpret."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def progress_line(bar_format: str) -> tqdm[NoReturn]:
    """A line on standard error that disappears when closed; silent if that is not a terminal.

    `bar_format` is tqdm's; the share done is set as `n`, from 0 to 1.
    """
    import shutil

    from tqdm import tqdm

    # tqdm shows nothing on a terminal that reports no columns and rows.
    size = shutil.get_terminal_size()
    return tqdm(
        total=1.0,
        bar_format=bar_format,
        leave=False,
        disable=not sys.stderr.isatty(),
        ncols=size.columns,
        nrows=size.lines,
    )


@contextmanager
def spinner(text: str, detail: Callable[[], str] | None = None) -> Iterator[None]:
    """Shows on the terminal what the command is waiting for, if it takes long."""
    if not sys.stderr.isatty():
        yield
        return
    import threading

    done = threading.Event()
    thread = threading.Thread(target=_spin, args=(done, text, detail), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _spin(done: Event, text: str, detail: Callable[[], str] | None) -> None:
    if done.wait(_AFTER_S):
        return
    with progress_line("{desc} {elapsed}") as spinner:
        while not done.wait(0.2):
            more = detail() if detail is not None else ""
            spinner.set_description_str(printable(f"{text}: {more}" if more else text))
