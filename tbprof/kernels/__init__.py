"""The compiled loops, for what NumPy cannot do on whole columns: Cython in pure Python mode.

Each fills arrays of its caller, allocates nothing and releases the interpreter lock. Constants that
kernels and callers share are in `codes.py`, types of arrays in `types.pxd`, binary searches in
`searches.pxd`. A package is named after the one that calls it, or after what it reads: `analysis`
also calls `programs`. Kernels only import `base`.

- Sources are Python that ruff and mypy read; types are annotations. Functions are inlined into
  other modules from `.pxd` files only.
- Arithmetic is C's, with wrapping 64-bit integers (`-fwrapv`). C's `int` is too narrow for
  literals beyond 32 bits, so these are constants of `codes.py` or cast.
- An index below 0 counts from the end, as in NumPy: -1 stands for "no type", whose row is the
  last. The passes of the reader are compiled without that (`wraparound`).
- The baseline is x86-64-v2 on Linux, as NumPy's, and the compiler's default elsewhere. Nothing is
  chosen for the machine that builds.
- `scripts/extensions.py` compiles for wheels and editable installs, with the system's C compiler
  or that of the package `ziglang`. A checkout compiles what has changed at import. `--checked`
  checks every index, `--sanitized` adds AddressSanitizer and UBSan; `scripts/sanitized` runs
  Python on them.
- Wheels are one per Python and platform: the limited API has buffers only from Python 3.11 on.
- `tests/kernels/interpreted.py` makes every call twice: compiled, and as Python with integers
  that never overflow. Both must write the same.
"""

import os
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, SourceFileLoader
from io import FileIO
from pathlib import Path
from types import ModuleType

from tbprof.base.errors import NotCompiled

_FOLDER = Path(__file__).parent
_ROOT = _FOLDER.parents[1]
_SCRIPT = _ROOT / "scripts" / "extensions.py"
_PLAIN = {"__init__", "codes"}
# x86-64-v2 beyond what every x86-64 has, by NumPy's names of it: scripts/extensions.py
_X86_64_V2 = ("SSE3", "SSSE3", "SSE41", "SSE42", "POPCNT")
_ELF_HEADER_BYTES = 64
# By relative path.
_Files = dict[str, os.DirEntry[str]]


def _check() -> None:
    """Raises NotCompiled where modules cannot be used; a checkout compiles what has changed."""
    _check_processor()
    hint = "pip install --force-reinstall tbprof, with the Python that runs it"
    files = _files()
    problem = _problem(files)
    if _SCRIPT.exists():
        hint = f"make run, or: {sys.executable} {_SCRIPT}"
        if problem or _is_stale(files):
            _compile(files, hint)
            problem = _problem(_files())
    if problem:
        raise NotCompiled(problem, hint)
    try:
        import_module(f"{__name__}._shared")  # all others need it
    except ImportError as error:
        raise NotCompiled(
            f"the compiled modules of tbprof cannot be loaded: {error}", hint
        ) from error


def _check_processor() -> None:
    """Raises NotCompiled on a processor that lacks what the kernels, or NumPy, are compiled for."""
    hint = "tbprof needs an x86 processor from 2009 or later: use another machine"
    try:
        import_module("numpy")  # NumPy checks the processor, and may refuse it
    except RuntimeError as error:
        raise NotCompiled(
            f"NumPy does not run on this processor: {' '.join(str(error).split())}", hint
        ) from error
    missing = [name for name in _X86_64_V2 if not _features().get(name, True)]
    if missing and sys.platform == "linux":
        raise NotCompiled(
            f"this processor lacks {', '.join(missing)}, which tbprof is compiled for (x86-64-v2)",
            hint,
        )


def _features() -> dict[str, bool]:
    """Whether the processor has each feature that NumPy knows; empty unless it is an x86."""
    umath = sys.modules.get("numpy._core._multiarray_umath")  # NumPy 2
    umath = umath or sys.modules.get("numpy.core._multiarray_umath")
    found: dict[str, bool] = getattr(umath, "__cpu_features__", {})
    return found if found.get("SSE2") else {}


def _problem(files: _Files) -> str:
    """Why the compiled modules cannot be imported, "" if they can."""
    for name in ["_shared.py", *sorted(files)]:
        stem, _, end = name.partition(".")
        if end != "py" or stem.rpartition("/")[2] in _PLAIN:
            continue
        found = next((stem + end for end in EXTENSION_SUFFIXES if stem + end in files), None)
        if found is None:
            version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
            whole = "has no compiled modules for" if stem == "_shared" else f"lacks {stem} for"
            return f"this installation of tbprof {whole} {version} on {sys.platform}"
        if _is_cut_off(files[found]):
            return f"this installation of tbprof is damaged: {_FOLDER / found} is cut off"
    return ""


def _files() -> _Files:
    """The files of this package by relative path: "codes.py", "xplane/fields.py"."""
    own = {entry.name: entry for entry in os.scandir(_FOLDER)}
    folders = [name for name, entry in own.items() if entry.is_dir()]
    return own | {
        f"{folder}/{entry.name}": entry for folder in folders for entry in os.scandir(own[folder])
    }


def _is_cut_off(path: os.PathLike[str]) -> bool:
    """Whether a module ends before its table of sections, which is the last of an ELF file.

    Importing one would not raise ImportError but end the process with a bus error.
    """
    with FileIO(path) as file:
        header = file.read(_ELF_HEADER_BYTES)
        size = os.fstat(file.fileno()).st_size
    if header[:6] != b"\x7fELF\x02\x01":  # 64 bit, little endian
        return not header
    table, entry, count = (
        int.from_bytes(header[start:end], "little") for start, end in ((40, 48), (58, 60), (60, 62))
    )
    return size < max(table + entry * count, _ELF_HEADER_BYTES)


def _is_stale(files: _Files) -> bool:
    """Whether a source is newer than the modules, all of which are there."""
    stamps = [_FOLDER / f".inputs{end}" for end in EXTENSION_SUFFIXES]
    stamp = next((path for path in stamps if path.exists()), None)
    if stamp is None:
        return True
    compiled_at = stamp.stat().st_mtime_ns
    return any(
        entry.stat().st_mtime_ns > compiled_at
        for name, entry in files.items()
        if name.endswith((".py", ".pxd")) and not name.endswith(("__init__.py", "codes.pxd"))
    )


def _compile(files: _Files, hint: str) -> None:
    """Compiles the outdated modules of a checkout. Raises NotCompiled."""
    for name, entry in files.items():
        if name.endswith(tuple(EXTENSION_SUFFIXES)) and _is_cut_off(entry):
            Path(entry).unlink()
    loader = SourceFileLoader("tbprof_extensions", str(_SCRIPT))
    extensions = ModuleType(loader.name)
    loader.exec_module(extensions)
    try:
        if not extensions.build_extensions(_ROOT):  # newer files with the same content
            extensions.touch_stamp(_ROOT)
    except extensions.ExtensionsError as error:
        raise NotCompiled(
            f"the compiled modules of this checkout do not fit its sources: {error}", hint
        ) from error


_check()
