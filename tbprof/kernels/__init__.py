"""The compiled loops: what cannot be done by columns at once, as Cython in pure Python.

Each fills arrays that its caller gives, allocates nothing and holds no interpreter lock. Numbers
that kernels and callers share are in `codes.py`, types of arrays in `types.pxd`; what is compiled
into its callers, such as varints, is in `wire.pxd` and `heaps.pxd`. Only `base` may come in.
"""

import sys
from importlib.machinery import EXTENSION_SUFFIXES, SourceFileLoader
from pathlib import Path
from types import ModuleType

from tbprof.base.errors import NotCompiled

_FOLDER = Path(__file__).parent
_ROOT = _FOLDER.parents[1]
_SCRIPT = _ROOT / "scripts" / "extensions.py"


def _check() -> None:
    """Raises NotCompiled where a module is missing; a checkout compiles what has changed."""
    if _SCRIPT.exists():
        if _is_stale():
            _compile()
    elif not _compiled("_shared"):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise NotCompiled(
            f"this installation of tbprof has no compiled modules for Python {version} on "
            f"{sys.platform}",
            "pip install --force-reinstall tbprof, with the Python that runs it",
        )


def _compiled(name: str) -> Path | None:
    paths = (_FOLDER / f"{name}{suffix}" for suffix in EXTENSION_SUFFIXES)
    return next((path for path in paths if path.exists()), None)


def _is_stale() -> bool:
    shared = _compiled("_shared")
    if shared is None:
        return True
    stamp = _FOLDER / f".inputs{shared.name.removeprefix('_shared')}"
    if not stamp.exists():
        return True
    compiled_at = stamp.stat().st_mtime_ns
    return any(
        path.stat().st_mtime_ns > compiled_at
        for path in _FOLDER.iterdir()
        if path.suffix in {".py", ".pxd"} and path.name not in {"__init__.py", "codes.pxd"}
    )


def _compile() -> None:
    loader = SourceFileLoader("tbprof_extensions", str(_SCRIPT))
    extensions = ModuleType(loader.name)
    loader.exec_module(extensions)
    try:
        if not extensions.build_extensions(_ROOT):  # newer, and the same
            extensions.touch_stamp(_ROOT)
    except extensions.ExtensionsError as error:
        raise NotCompiled(
            f"the compiled modules of this checkout do not fit its sources: {error}",
            f"make run, or: {sys.executable} {_SCRIPT}",
        ) from error


_check()
