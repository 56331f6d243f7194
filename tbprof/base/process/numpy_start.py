"""How NumPy starts in a process that is ours."""

import os
import sys
from types import ModuleType

# Modules that do nothing but attach docstrings. NumPy 2, and before.
_DOCSTRINGS = [
    f"numpy.{core}.{module}"
    for core in ("_core", "core")
    for module in ("_add_newdocs", "_add_newdocs_scalars")
]


def shorten_numpy_start() -> None:
    """Prepares the import of NumPy: no threads, and no docstrings of what is written in C.

    Its BLAS starts a thread per core, but our matrices are small. The docstrings take a sixth of
    the import, 5 % of a small export. `python -OO` leaves them out as well.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in _DOCSTRINGS:
        sys.modules.setdefault(name, ModuleType(name))
