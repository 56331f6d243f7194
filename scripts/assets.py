"""Builds what the package ships beside its Python files: the pages and the message descriptors.

    python scripts/assets.py [frontend] [descriptors]

The package build (`hatch_build.py`) and the Makefile share it, and it needs the standard library
alone. Each output carries a stamp, a hash of its inputs: what is up to date is left alone, so a
second build needs neither Node nor a network, and neither does a build from a source distribution.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

NODE_NEEDED = 20
STATIC = Path("tbprof/static")
DESCRIPTORS = Path("tbprof/_pb/descriptors.pb")
_STATIC_STAMP = STATIC / ".inputs"
_DESCRIPTORS_STAMP = DESCRIPTORS.with_suffix(".inputs")
_MODULES_STAMP = Path("frontend/node_modules/.inputs")

_NOT_INPUTS = {"node_modules", "dist", "coverage", "test", "tests", "e2e", "__tests__"}


class AssetsError(Exception):
    """What is missing to build, and the ways out."""


def build_frontend(root: Path) -> bool:
    """Whether `tbprof/static/` had to be built from `frontend/`; False where it is up to date.

    With `TBPROF_SKIP_FRONTEND=1` nothing is built, for work on the Python side alone.
    """
    if os.environ.get("TBPROF_SKIP_FRONTEND") == "1" or frontend_is_fresh(root):
        return False
    if not (root / "frontend/package.json").is_file():
        raise AssetsError(f"{root / 'frontend/package.json'} is missing: an incomplete checkout")
    check_node()
    install_modules(root, for_tests=False)
    _run([_npm(), "run", "build"], root / "frontend")
    if not (root / STATIC / "index.html").is_file():
        raise AssetsError(f"'npm run build' in frontend/ left no {STATIC / 'index.html'}")
    _stamp(root / _STATIC_STAMP, frontend_hash(root))
    return True


def check_frontend_can_build(root: Path) -> None:
    """Raises AssetsError early where the pages have to be built and Node is missing."""
    if os.environ.get("TBPROF_SKIP_FRONTEND") != "1" and not frontend_is_fresh(root):
        check_node()


def install_modules(root: Path, *, for_tests: bool = True) -> bool:
    """Whether packages had to be installed in `frontend/`; False where they fit the lock file.

    The build of the pages needs a fifth of them. `npm ci` refuses a lock file that was written
    where the registry lacked the variants of a package for other systems; `npm install --no-save`
    takes the locked versions all the same.
    """
    lock = _hash(root, [root / "frontend/package-lock.json"])
    for_build = f"{lock} build"
    stamp = _read(root / _MODULES_STAMP)
    if stamp == lock or (stamp == for_build and not for_tests):
        return False
    check_node()
    # The lock file names exact packages, so those in npm's cache need no request.
    options = ["--silent", "--no-audit", "--no-fund", "--prefer-offline"]
    options += [] if for_tests else ["--omit=dev"]
    try:
        _run([_npm(), "ci", *options], root / "frontend")
    except AssetsError:
        _run([_npm(), "install", "--no-save", *options], root / "frontend")
    _stamp(root / _MODULES_STAMP, lock if for_tests else for_build)
    return True


def compile_descriptors(root: Path) -> bool:
    """Whether `protos/` had to be compiled to one descriptor set; False where it is up to date."""
    if descriptors_are_fresh(root):
        return False
    try:
        from grpc_tools import protoc
    except ImportError as error:
        raise AssetsError(
            "compiling protos/ needs the package grpcio-tools: pip install grpcio-tools "
            "(a build with isolation installs it by itself)"
        ) from error
    protos = sorted(path.name for path in (root / "protos").glob("*.proto"))
    target = root / DESCRIPTORS
    status = protoc.main(
        [
            "protoc",
            f"--proto_path={root / 'protos'}",
            f"--descriptor_set_out={target}",
            "--include_imports",
            *protos,
        ]
    )
    if status != 0:
        raise AssetsError(f"protoc failed with status {status} on protos/")
    _stamp(root / _DESCRIPTORS_STAMP, descriptors_hash(root))
    return True


def frontend_is_fresh(root: Path) -> bool:
    """Whether `tbprof/static/` was built from `frontend/` as it is now."""
    built = (root / STATIC / "index.html").is_file()
    return built and _read(root / _STATIC_STAMP) == frontend_hash(root)


def descriptors_are_fresh(root: Path) -> bool:
    """Whether the descriptor set was compiled from `protos/` as they are now."""
    return (root / DESCRIPTORS).is_file() and _read(root / _DESCRIPTORS_STAMP) == descriptors_hash(
        root
    )


def frontend_hash(root: Path) -> str:
    """Hash of the files that the pages are made of: not tests, not prose, not hidden files."""
    frontend = root / "frontend"
    inputs = []
    for directory, folders, names in os.walk(frontend):
        folders[:] = [f for f in folders if f not in _NOT_INPUTS and not f.startswith(".")]
        inputs += [
            Path(directory, name)
            for name in names
            if not name.startswith(".") and not name.endswith(".md") and ".test." not in name
        ]
    return _hash(root, inputs)


def descriptors_hash(root: Path) -> str:
    """Hash of the message definitions."""
    return _hash(root, (root / "protos").glob("*.proto"))


def check_node() -> None:
    """Raises AssetsError where Node or npm is missing or too old, saying what is needed."""
    ways_out = (
        f"Building tbprof's pages from source needs Node {NODE_NEEDED} or newer with npm "
        "(nodejs.org, or the system's packages). A wheel, or a source distribution, has them "
        "built. TBPROF_SKIP_FRONTEND=1 installs tbprof without pages."
    )
    node = shutil.which("node")
    if node is None:
        raise AssetsError(f"node was not found. {ways_out}")
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout.strip()
    major = re.match(r"v(\d+)", version)
    if major is None or int(major[1]) < NODE_NEEDED:
        raise AssetsError(f"{node} is {version or 'broken'}. {ways_out}")
    if shutil.which("npm") is None:
        raise AssetsError(f"npm was not found (node {version} was). {ways_out}")


def _npm() -> str:
    return shutil.which("npm") or "npm"  # npm.cmd on Windows, which subprocess does not find


def _run(command: list[str], directory: Path) -> None:
    shown = " ".join([Path(command[0]).stem, *command[1:]])
    print(f"{directory.name}: {shown}", file=sys.stderr, flush=True)
    status = subprocess.run(command, cwd=directory).returncode
    if status != 0:
        raise AssetsError(f"'{shown}' in {directory.name}/ failed with status {status}")


def _hash(root: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files, key=lambda path: path.relative_to(root).as_posix()):
        content = path.read_bytes().replace(b"\r\n", b"\n")  # as a checkout on Windows has it
        digest.update(f"{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def _read(stamp: Path) -> str:
    try:
        return stamp.read_text().strip()
    except OSError:
        return ""


def _stamp(stamp: Path, value: str) -> None:
    stamp.parent.mkdir(parents=True, exist_ok=True)
    stamp.write_text(value + "\n")


def main(arguments: list[str]) -> int:
    """Builds the assets named, or all; the exit status."""
    root = Path(__file__).resolve().parent.parent
    steps = {"frontend": build_frontend, "descriptors": compile_descriptors}
    try:
        for name in arguments or steps:
            print(f"{name}: {'built' if steps[name](root) else 'up to date'}")
    except AssetsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
