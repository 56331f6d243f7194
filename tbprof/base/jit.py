"""The decorator that compiles our sequential loops, and plain Python where Numba is missing."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import platformdirs

_log = logging.getLogger(__name__)
_F = TypeVar("_F", bound=Callable[..., object])

try:
    import numba
except ImportError as error:  # a Python that Numba does not support yet
    numba = None
    _log.warning(
        "Numba cannot be imported (%s): traces are decoded by plain Python, about 100 times slower",
        error,
    )

COMPILED = numba is not None


def cache_directory() -> Path:
    """The folder of everything tbprof keeps for this user; `TBPROF_CACHE_DIR` overrides it."""
    chosen = os.environ.get("TBPROF_CACHE_DIR")
    return Path(chosen) if chosen else Path(platformdirs.user_cache_dir("tbprof"))


def kernel(function: _F) -> _F:
    """`function` compiled without the interpreter lock, its machine code cached on disk.

    The cache lies in the user's cache directory, since the package's own folder is often
    read-only. Without Numba the function is returned as it is: every kernel is written so that it
    computes the same as plain Python, only slowly.
    """
    if numba is None:
        return function
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory() / "kernels")
    try:
        return numba.njit(cache=True, nogil=True, boundscheck=False)(function)  # type: ignore[no-any-return]
    except RuntimeError as error:  # no writable place for the cache
        _log.warning("compiled kernels cannot be cached (%s): each start compiles them anew", error)
        return numba.njit(nogil=True, boundscheck=False)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = previous
