"""The help of commands."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress


class Help(argparse.RawDescriptionHelpFormatter):
    """Shows defaults if there are any."""

    def __init__(self, prog: str) -> None:
        # Without a width, each declared argument imports `shutil` to determine it.
        super().__init__(prog, width=_columns() - 2)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        help_ = action.help or ""
        has_default = action.default not in (None, "", False) and action.default != []
        if not has_default or action.default == argparse.SUPPRESS or "%(default)s" in help_:
            return help_
        return f"{help_} (default: %(default)s)"


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    with suppress(OSError, ValueError):  # no terminal
        return int(columns) if columns.isdecimal() else os.get_terminal_size().columns or 80
    return 80
