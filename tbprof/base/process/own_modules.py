"""Finds the modules of this package without a search."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader, SourcelessFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source
from io import FileIO
from os import sep

_COMPILED = cache_from_source(f"{{}}{sep}{{}}.py")
# A compiled file begins with this, the time and the size of its source. Source: PEP 552.
_HEADER = MAGIC_NUMBER + bytes(4)


def find_own_modules() -> None:
    """Finds modules of this package first, if they have been compiled.

    Python asks every finder and looks for every kind of file. A small export imports 300 modules:
    without these searches, it makes a fifth fewer system calls and takes 4 % less time.
    """
    if _OwnModules not in sys.meta_path:
        sys.meta_path.insert(0, _OwnModules)


class _OwnModules:
    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, _target: object = None
    ) -> ModuleSpec | None:
        """The module; None for Python to search for it: it is not ours, not compiled, or outdated.

        Modules of `kernels` are extensions, beside sources that must not be imported.
        """
        if not path or not name.startswith("tbprof.") or name.startswith("tbprof.kernels."):
            return None
        folder, last = path[0], name.rpartition(".")[2]
        try:
            return _module(name, folder, last)
        except OSError:
            inner = f"{folder}{sep}{last}"
        try:
            spec = _module(name, inner, "__init__")
        except OSError:
            return None
        if spec is not None:
            spec.submodule_search_locations = [inner]
        return spec


def _module(name: str, folder: str, stem: str) -> ModuleSpec | None:
    """The module with this source; None if it has changed. Raises OSError if files are missing."""
    source, compiled = f"{folder}{sep}{stem}.py", _COMPILED.format(folder, stem)
    facts = SourceFileLoader(name, source).path_stats(source)
    with FileIO(compiled) as file:
        content = file.readall()
    if content[:16] != _HEADER + _word(int(facts["mtime"])) + _word(facts["size"]):
        return None
    spec = ModuleSpec(name, _Loader(name, compiled, content), origin=source)
    spec.has_location = True
    spec.cached = compiled
    return spec


def _word(number: int) -> bytes:
    return (number & 0xFFFFFFFF).to_bytes(4, "little")


class _Loader(SourcelessFileLoader):
    """Loads a compiled file whose content has been read."""

    def __init__(self, name: str, path: str, content: bytes) -> None:
        super().__init__(name, path)
        self._content = content

    def get_data(self, path: str) -> bytes:
        """The content of a file."""
        content, self._content = self._content, b""  # needed once
        return content if content and path == self.path else super().get_data(path)
