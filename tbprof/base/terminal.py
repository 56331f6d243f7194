"""Texts of traces and of other programs on a terminal, and a progress line."""

import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm


def printable(text: str) -> str:
    """`text` with control characters as escapes: a terminal would obey them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def progress_line(bar_format: str) -> "tqdm[NoReturn]":
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
