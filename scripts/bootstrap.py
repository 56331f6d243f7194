"""Sets up what the Makefile's targets need, from nothing; a second run finds it and is quick.

    python scripts/bootstrap.py run | dev | xprof | profile | record | azurite | node | chromium

`run` and `dev` install the project into `.venv`, `xprof`, `profile` and `record` make environments
for the parity tests and for the recording scripts, `azurite` gets the Azure storage server of the
storage tests, `node` gets the frontend's packages, `chromium`
prints the path of a browser and installs one where there is none. What is up to date is left alone
and needs no network. Only the standard library is used.
"""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NoReturn

import assets
import extensions

ROOT = Path(__file__).resolve().parent.parent
BIN = "Scripts" if os.name == "nt" else "bin"
PROJECT = ".venv"
XPROF = ["xprof==2.24.2"]
# The last release of the profile plugin that has the tf.data tool, without TensorFlow, which it
# names and that tool does not need. There are wheels for this Python alone.
PROFILE = ["tensorboard_plugin_profile==2.19.0"]
PROFILE_PYTHON = (3, 11)
PROFILE_NEEDS = [
    "gviz-api>=1.9", "protobuf<5", "six", "werkzeug", "setuptools", "etils[epath]",
]  # fmt: skip
RECORD = [
    "tensorflow-cpu>=2.16; sys_platform == 'linux'",
    "tensorflow>=2.16; sys_platform != 'linux'",
    "jax>=0.6",
    "tensorboard>=2.16",
]
# Its telemetry takes two thirds of the space, and tests switch it off: an older one is small.
AZURITE = """{
  "dependencies": { "azurite": "3.37.0" },
  "overrides": { "applicationinsights": "1.8.10" }
}
"""

# Debian packages Chromium without its windows, too: pages open in half of the time.
_BROWSERS = [
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
]
_APPLICATIONS = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
]
_PACKAGE_MANAGERS = {
    "apt-get": ["apt-get", "install", "-y", "--no-install-recommends", "chromium"],
    "dnf": ["dnf", "install", "-y", "chromium"],
    "pacman": ["pacman", "-S", "--noconfirm", "--needed", "chromium"],
    "brew": ["brew", "install", "--cask", "chromium"],
}


def set_up_project(level: str) -> None:
    """`.venv` holds the project, editable; at level `dev` with what tests and checks need."""
    python = _environment(PROJECT)
    install_headers()
    if any(_is_done(PROJECT, done, _project_recipe(done)) for done in (level, "dev")):
        return
    _say(f"installing tbprof into .venv ({level})")
    groups = ["--group", "dev"] if level == "dev" else []
    _install(python, "--editable", str(ROOT), *groups)
    _done(PROJECT, level, _project_recipe(level))


def _project_recipe(level: str) -> list[str]:
    recipe = [level, _content("pyproject.toml"), assets.descriptors_hash(ROOT)]
    if level == "run":  # without the compilers that a checkout compiles its changes with
        recipe.append(extensions.sources_hash(ROOT))
    return recipe


def set_up_packages(
    name: str, requirements: list[str], *, alone: tuple[str, ...] = (), is_needed: bool = True
) -> None:
    """An environment of its own for `requirements`; one that is not needed may fail to install.

    Packages in `alone` are installed without what they name as their own requirements.
    """
    python = _environment(name)
    recipe = [*requirements, *alone]
    if _is_done(name, "packages", recipe):
        return
    _say(f"installing {', '.join(recipe)} into {name}")
    if is_needed:
        _install(python, *requirements)
    elif not _try_install(python, *requirements) or (
        alone and not _try_install(python, "--no-deps", *alone)
    ):
        _say(f"{name} could not be made on this Python: what needs it is skipped")
        return
    _done(name, "packages", recipe)


def set_up_xprof() -> None:
    """The environment of xprof."""
    set_up_packages(".venv-xprof", XPROF)


def set_up_profile() -> None:
    """The environment of the older plugin, on the one Python that it has wheels for."""
    if sys.version_info[:2] == PROFILE_PYTHON:
        set_up_packages(".venv-profile", PROFILE_NEEDS, alone=tuple(PROFILE), is_needed=False)


def set_up_record() -> None:
    """The environment of the programs that are recorded."""
    set_up_packages(".venv-record", RECORD, is_needed=False)


def set_up_azurite() -> None:
    """Azure's own storage server, in a folder beside the environments."""
    name = ".venv-azurite"
    if _is_done(name, "packages", [AZURITE]):
        return
    assets.check_node()
    _say(f"installing azurite into {name}")
    shutil.rmtree(ROOT / name, ignore_errors=True)
    (ROOT / name).mkdir()
    (ROOT / name / "package.json").write_text(AZURITE, encoding="utf-8")
    npm = shutil.which("npm") or "npm"
    options = ["--silent", "--no-audit", "--no-fund", "--prefix", str(ROOT / name)]
    if _quietly([npm, "install", *options]):
        _done(name, "packages", [AZURITE])
    else:
        _say(f"{name} could not be made: what needs it is skipped")


def set_up_frontend(*, builds: bool, for_tests: bool) -> None:
    """The frontend's packages, once: those for tests include those of the build; and the pages."""
    if for_tests:
        assets.install_modules(ROOT)
    if builds:
        assets.build_frontend(ROOT)


def find_chromium() -> str:
    """The path of a Chromium or Chrome; TBPROF_CHROMIUM overrides the search."""
    chosen = os.environ.get("TBPROF_CHROMIUM")
    if chosen:
        return chosen
    paths = [shutil.which(name) for name in _BROWSERS]
    paths += [path for path in _APPLICATIONS if Path(path).exists()]
    return next((path for path in paths if path), "")


def install_headers() -> None:
    """Asks the system's package manager for the headers of Python, where the kernels need them."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    if extensions.are_fresh(ROOT) or header.exists() or not shutil.which("apt-get"):
        return  # where they are missing all the same, the build says what to install
    package = f"libpython{sys.version_info.major}.{sys.version_info.minor}-dev"
    command = ["apt-get", "install", "-y", "--no-install-recommends", package]
    if os.geteuid() != 0:
        command = ["sudo", *command]
    _say(f"installing the headers of Python: {' '.join(command)}")
    if not _quietly(command):
        _quietly([*command[: command.index("apt-get") + 1], "update"])
        _quietly(command)


def install_chromium() -> None:
    """Asks the system's package manager for Chromium; apt-get's lists are refreshed when needed."""
    manager = next((name for name in _PACKAGE_MANAGERS if shutil.which(name)), None)
    if manager is None:
        _fail(
            "the browser tests need Chromium or Chrome, and no package manager known to this "
            "script was found; install one, or name it in TBPROF_CHROMIUM"
        )
    command = _PACKAGE_MANAGERS[manager]
    if manager != "brew" and hasattr(os, "geteuid") and os.geteuid() != 0:
        if not shutil.which("sudo"):
            _fail(f"the browser tests need Chromium; run as root: {' '.join(command)}")
        command = ["sudo", *command]
    _say(f"installing Chromium: {' '.join(command)}")
    installed = _quietly(command)
    if not installed and manager == "apt-get":
        _quietly([*command[: command.index("apt-get") + 1], "update"])
        installed = _quietly(command)
    if not installed:
        _fail(f"Chromium could not be installed: '{' '.join(command)}' failed")


def _environment(name: str) -> str:
    """The interpreter of the environment `name`, made again where it is of another Python."""
    folder = ROOT / name
    python = folder / BIN / "python"
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    match = re.search(r"^version\s*=\s*(\d+\.\d+)", _content(f"{name}/pyvenv.cfg"), re.MULTILINE)
    if match is not None and match[1] == ours and python.exists():
        return str(python)
    _say(f"making {name} with Python {ours}")
    if name != PROJECT:
        command = [_uv(), "venv", "--quiet", "--clear", "--python", sys.executable, str(folder)]
        if subprocess.run(command).returncode != 0:
            _fail(f"{name} could not be made: '{' '.join(command)}' failed")
        return str(python)
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        _fail(
            f"{sys.executable} lacks the venv module: install it with the system's packages "
            f"(on Debian and Ubuntu: apt-get install python{ours}-venv), or name another Python: "
            "make PYTHON=..."
        )
    venv.create(folder, clear=True, with_pip=True, symlinks=os.name != "nt")
    return str(python)


@functools.cache
def _uv() -> str:
    """The installer uv, which takes a fifth of pip's time, in the project's environment."""
    python = _environment(PROJECT)
    uv = Path(python).with_name("uv.exe" if os.name == "nt" else "uv")
    if not uv.exists():
        command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"]
        if subprocess.run(command).returncode != 0:
            _fail("pip could not install uv (the first run needs a network)")
    return str(uv)


@functools.cache
def _settings_of_pip() -> dict[str, str]:
    """Where packages come from, as pip is set up, in the variables of uv, which reads its own."""
    command = [_environment(PROJECT), "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    values = {key.rpartition(".")[2]: value.strip("'") for key, _, value in
             (line.partition("=") for line in listed)}  # fmt: skip
    variables = {"index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX",
                 "find-links": "UV_FIND_LINKS", "cert": "SSL_CERT_FILE"}  # fmt: skip
    return {variables[key]: value for key, value in values.items() if key in variables}


def _try_install(python: str, *arguments: str) -> bool:
    command = [_uv(), "pip", "install", "--quiet", "--python", python, *arguments]
    pages_elsewhere = {**_settings_of_pip(), **os.environ, "TBPROF_SKIP_FRONTEND": "1"}
    return subprocess.run(command, cwd=ROOT, env=pages_elsewhere).returncode == 0


def _install(python: str, *arguments: str) -> None:
    if not _try_install(python, *arguments):
        _fail(f"uv could not install {' '.join(arguments)} (the first run needs a network)")


def _quietly(command: list[str]) -> bool:
    """Whether the command succeeded; its output goes to stderr, as stdout carries the answer."""
    return subprocess.run(command, stdout=sys.stderr.fileno()).returncode == 0


def _is_done(name: str, step: str, recipe: list[str]) -> bool:
    return _content(f"{name}/.done-{step}") == _digest(recipe)


def _done(name: str, step: str, recipe: list[str]) -> None:
    (ROOT / name / f".done-{step}").write_text(_digest(recipe))


def _digest(recipe: list[str]) -> str:
    return hashlib.sha256("\0".join(recipe).encode()).hexdigest()


def _content(path: str) -> str:
    try:
        return (ROOT / path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _say(text: str) -> None:
    sys.stderr.write(f"-- {text}\n")  # in one piece: environments are made side by side


def _fail(text: str) -> NoReturn:
    print(f"error: {text}", file=sys.stderr)
    sys.exit(1)


ALONE = {
    "xprof": set_up_xprof, "profile": set_up_profile, "record": set_up_record,
    "azurite": set_up_azurite,
}  # fmt: skip
STEPS = {"run", "dev", "node", "chromium", *ALONE}


def main(steps: list[str]) -> int:
    """Takes the steps named; the exit status.

    Packages, pages and kernels are made side by side: they wait for the network in turn.
    """
    if unknown := set(steps) - STEPS:
        _fail(f"no step {unknown.pop()!r}")
    levels = [step for step in steps if step in {"run", "dev"}]
    if levels:
        assets.check_frontend_can_build(ROOT)
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(set_up_frontend, builds=bool(levels), for_tests="node" in steps)]
        if levels or set(steps) & ALONE.keys():
            _uv()
        jobs += [pool.submit(set_up_project, level) for level in levels]
        jobs += [pool.submit(ALONE[step]) for step in steps if step in ALONE]
        for job in jobs:
            job.result()
    if "chromium" in steps:
        if not find_chromium():
            install_chromium()
        print(find_chromium())
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except assets.AssetsError as error:
        _fail(str(error))
