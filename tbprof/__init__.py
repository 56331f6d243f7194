"""A profile plugin for TensorBoard that reads XPlane traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tbprof.api import open_logdir
    from tbprof.capturing.python import capture

__all__ = ["__version__", "capture", "open_logdir"]

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    # TensorBoard imports the package when it starts, so NumPy and the rest come when used.
    if name == "open_logdir":
        from tbprof.api import open_logdir

        return open_logdir
    if name == "capture":
        from tbprof.capturing.python import capture

        return capture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
