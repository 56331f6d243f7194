"""Compiles the kernels of `tbprof/kernels/` beside their sources.

    python scripts/extensions.py [--checked | --sanitized]

The package build, the Makefile and an editable checkout that has changed share it. Cython and
setuptools are needed, and a C compiler: the one of the system, else that of the package `ziglang`.
A stamp, a hash of the sources, leaves alone what is up to date. With `--checked`, or
`TBPROF_KERNELS=checked`, every index is checked, for tests; with `--sanitized` AddressSanitizer and
UBSan look at every access and every operation that C leaves undefined (`scripts/sanitized`).
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KERNELS = Path("tbprof/kernels")
# Code of Cython's own that all modules need, compiled once.
SHARED = "_shared"
BUILD = Path("build/kernels")
NEEDED = ["cython>=3.3,<4", "setuptools>=77"]
COMPILER_PACKAGE = "ziglang>=0.13"

_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
_DIRECTIVES: dict[str, Any] = {
    "language_level": 3,
    "boundscheck": False,
    "initializedcheck": False,
    # Nothing negative is divided by a kernel, and nothing is divided by 0.
    "cdivision": True,
    "embedsignature": False,
    # A quarter of the code; nobody pickles what a kernel works on.
    "auto_pickle": False,
}
# An array that is passed on is copied with room for so many dimensions; Cython's own 8 take 208
# bytes. Cython wants one more than the two that there are.
_MOST_DIMENSIONS = 3
_TRANSLATE = f"""
from Cython.Compiler import Options
Options.buffer_max_dims = {_MOST_DIMENSIONS}
from Cython.Compiler.Main import setuptools_main
setuptools_main()
"""
_CHECKED = {"boundscheck": True, "initializedcheck": True}
# x86-64-v2, as compilers older than GCC 11 know it; `tbprof/kernels/__init__.py` checks for it.
_X86_64_V2 = ["-msse4.2", "-mpopcnt"]
# Beyond its range, the integer of a float is undefined as well; `undefined` leaves that out.
_SANITIZERS = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]


class ExtensionsError(Exception):
    """What is missing to compile, and the ways out."""


def modules(root: Path) -> list[Path]:
    """The sources that become extension modules."""
    plain = {"__init__.py", "codes.py"}
    return [path for path in sorted((root / KERNELS).rglob("*.py")) if path.name not in plain]


def compiled(root: Path) -> list[Path]:
    """The extension modules for this interpreter, whether they are there or not."""
    paths = [root / KERNELS / f"{SHARED}.py", *modules(root)]
    return [path.with_suffix(_SUFFIX) for path in paths]


def are_fresh(root: Path) -> bool:
    """Whether all modules were compiled from the sources as they are now."""
    try:
        stamp = _stamp(root).read_text().strip()
    except OSError:
        return False
    return stamp == sources_hash(root) and all(path.exists() for path in compiled(root))


def sources_hash(root: Path) -> str:
    """Hash of what the modules are compiled from."""
    digest = hashlib.sha256(_mode().encode())
    folder = root / KERNELS
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pxd")]):
        if path.name not in {"__init__.py", "codes.pxd"}:
            content = path.read_bytes().replace(b"\r\n", b"\n")
            digest.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def build_extensions(root: Path) -> bool:
    """Whether anything had to be compiled; False where all is up to date."""
    with _locked(root):
        if are_fresh(root):
            return False
        _compile(root)
    return True


def _compile(root: Path) -> None:
    find_compiler()
    try:
        from Cython.Compiler.Errors import CompileError
        from setuptools import Distribution, Extension
        from setuptools.command.build_ext import build_ext
        from setuptools.errors import BaseError, CCompilerError
    except ImportError as error:
        raise ExtensionsError(
            f"compiling tbprof/kernels/ needs {' and '.join(NEEDED)}: pip install "
            f"{' '.join(map(repr, NEEDED))} (a build with isolation installs them by itself)"
        ) from error
    print("tbprof/kernels: compiling", file=sys.stderr, flush=True)
    previous = Path.cwd()
    os.chdir(root)
    try:
        _write_codes(KERNELS / "codes.py", KERNELS / "codes.pxd")
        folder = BUILD / _mode()
        folder.mkdir(parents=True, exist_ok=True)
        options = {"extra_compile_args": _flags(), "extra_link_args": _link_flags()}
        # What takes longest comes first.
        paths = sorted(modules(Path()), key=lambda path: -path.stat().st_size)
        extensions = [
            Extension(".".join(path.with_suffix("").parts), [path.as_posix()], **options)
            for path in paths
        ]
        shared = (folder / f"{SHARED}.c").as_posix()
        extensions.append(Extension(".".join([*KERNELS.parts, SHARED]), [shared], **options))
        distribution = Distribution({"name": "tbprof", "ext_modules": extensions})
        command = build_ext(distribution)
        command.build_extensions = lambda: _build_all(command, folder)
        command.inplace = True
        command.build_temp = (folder / _SUFFIX.strip(".")).as_posix()
        command.ensure_finalized()
        command.run()
        _stamp(Path()).write_text(sources_hash(Path()) + "\n")
    except (
        subprocess.CalledProcessError, SystemExit, CompileError, BaseError, CCompilerError,
    ) as error:  # fmt: skip
        raise ExtensionsError(f"tbprof/kernels/ could not be compiled ({error})") from error
    finally:
        os.chdir(previous)


def _build_all(command: Any, folder: Path) -> None:
    """Compiles the extensions of a `build_ext`: C while Cython still translates what follows."""
    from Cython.Compiler import Options

    Options.buffer_max_dims = _MOST_DIMENSIONS
    from Cython.Build import cythonize

    directives = _DIRECTIVES | (_CHECKED if _mode() == "checked" else {})
    force = _changed_for_all(folder)
    command.check_extensions_list(command.extensions)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        *kernels, shared = command.extensions
        jobs = [pool.submit(_build_shared, command, shared, force=force)]
        for extension in kernels:
            [translated] = cythonize(
                [extension],
                build_dir=folder.as_posix(),
                compiler_directives=directives,
                shared_utility_qualified_name=shared.name,
                force=force,
                quiet=True,
            )
            extension.sources = translated.sources
            jobs.append(pool.submit(command.build_extension, extension))
            if any(job.done() and job.exception() for job in jobs):
                break
        for job in jobs:
            job.result()


def _build_shared(command: Any, extension: Any, *, force: bool) -> None:
    """No kernel changes it, so it is kept; a translation that is interrupted is not."""
    source = Path(extension.sources[0])
    if force:
        source.unlink(missing_ok=True)
    if not source.exists():
        unfinished = source.parent / "unfinished" / source.name
        unfinished.parent.mkdir(exist_ok=True)
        translate = [sys.executable, "-c", _TRANSLATE, f"--generate-shared={unfinished}"]
        subprocess.run(translate, check=True)
        unfinished.replace(source)
    command.build_extension(extension)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Keeps processes that find the same change from compiling at once."""
    if os.name == "nt":
        yield
        return
    import fcntl

    (root / BUILD).mkdir(parents=True, exist_ok=True)
    with (root / BUILD / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def touch_stamp(root: Path) -> None:
    """Notes that sources which are newer than what was compiled of them are the same."""
    _stamp(root).touch()


def has_compiler() -> bool:
    """Whether the system has a C compiler; on Windows setuptools looks for it."""
    if os.name == "nt":
        return True
    chosen = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    return shutil.which(chosen.split()[0]) is not None


def find_compiler() -> None:
    """Takes another C compiler where that of Python is missing. Raises ExtensionsError."""
    if not has_compiler():
        compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
        _take(compiler or _zig())
    header = Path(sysconfig.get_path("include"), "Python.h")
    if not header.exists():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise ExtensionsError(
            f"{header} is missing: install the headers of Python with the system's packages (on "
            f"Debian and Ubuntu: apt-get install python{version}-dev), or take a wheel"
        )


def _zig() -> str:
    if importlib.util.find_spec("ziglang") is None:
        raise ExtensionsError(
            "building tbprof from source needs a C compiler, and none was found: install one with "
            "the system's packages (on Debian and Ubuntu: apt-get install gcc), or 'pip install "
            "ziglang', which is one; a wheel needs none"
        )
    # Left alone, it compiles for the machine that builds.
    return f"{sys.executable} -m ziglang cc -mcpu=baseline"


def _take(compiler: str) -> None:
    os.environ.update(CC=compiler, LDSHARED=f"{compiler} -shared")


def _mode() -> str:
    return os.environ.get("TBPROF_KERNELS", "fast")


def _flags() -> list[str]:
    if os.name == "nt":
        return ["/O2", "/wd4244", "/wd4267"]
    flags = ["-O3", "-g0", "-fwrapv", "-Wno-unused-function", "-Wno-unreachable-code"]
    if sysconfig.get_platform() == "linux-x86_64":
        flags += _X86_64_V2
    if _mode() == "sanitized":
        flags += ["-O1", "-g1", "-fno-omit-frame-pointer"]
    return [*flags, *_link_flags()]


def _link_flags() -> list[str]:
    if os.name == "nt":
        return []
    chosen = os.environ.get("TBPROF_KERNELS_FLAGS", "").split()
    return [*(_SANITIZERS if _mode() == "sanitized" else []), *chosen]


def _stamp(root: Path) -> Path:
    return root / KERNELS / f".inputs{_SUFFIX}"


def _changed_for_all(folder: Path) -> bool:
    """Whether something has changed that is compiled into every module."""
    from Cython import __version__

    digest = hashlib.sha256(repr((__version__, _DIRECTIVES, _MOST_DIMENSIONS)).encode())
    for path in sorted(KERNELS.rglob("*.pxd")):
        digest.update(path.read_bytes())
    seen, now = folder / "seen", digest.hexdigest()
    if seen.exists() and seen.read_text() == now:
        return False
    seen.write_text(now)
    return True


def _write_codes(source: Path, target: Path) -> None:
    """The numbers of `codes.py` as constants of C, under names that no header has."""
    macros: dict[str, Any] = {}
    exec(compile(source.read_bytes(), source, "exec"), macros)
    numbers = {name: value for name, value in macros.items() if name.isupper()}
    defined = [f"    #define tbprof_{name} {_literal(value)}" for name, value in numbers.items()]
    declared = [
        f'    const {"double" if isinstance(value, float) else "long long"} {name} "tbprof_{name}"'
        for name, value in numbers.items()
    ]
    head = ["# Made of codes.py by scripts/extensions.py.", "", "cdef extern from *:", '    """']
    text = "\n".join([*head, *defined, '    """', *declared, ""])
    if not target.exists() or target.read_text() != text:
        target.write_text(text)


def _literal(value: object) -> str:
    if isinstance(value, float):
        return repr(value)
    # The least integer has no literal in C.
    return f"({value}LL)" if value != -(2**63) else f"({-(2**63) + 1}LL - 1)"


def main(arguments: list[str]) -> int:
    """Compiles what is out of date; the exit status."""
    for mode in ("checked", "sanitized"):
        if f"--{mode}" in arguments:
            os.environ["TBPROF_KERNELS"] = mode
    try:
        built = build_extensions(Path(__file__).resolve().parent.parent)
    except ExtensionsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"kernels: {'compiled' if built else 'up to date'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
