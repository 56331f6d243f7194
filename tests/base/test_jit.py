"""Kernels run without the interpreter lock, cached in the user's folder, or as plain Python."""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from traces import draw, space_of
from xplane import fuzz, generate
from xplane.whole import whole

import tbprof
import tbprof.analysis
import tbprof.xplane
from tbprof.base.jit import COMPILED, kernel_cache

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = Path(tbprof.__file__).parent

_PLAIN = """
import json, sys
sys.modules["numba"] = None
from traces import space_of
from xplane.whole import whole
from tbprof.base.jit import COMPILED
from tbprof.xplane.wire import read_varint
assert not COMPILED and not hasattr(read_varint, "py_func")
contents = [bytes.fromhex(line) for line in sys.stdin]
print(json.dumps([whole(space_of(content)) for content in contents]))
"""


def _kernels() -> list:
    found = {}
    for package in (tbprof.xplane, tbprof.analysis):
        for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            for value in vars(importlib.import_module(info.name)).values():
                if hasattr(value, "py_func"):
                    found[value.py_func.__module__, value.py_func.__name__] = value
    return list(found.values())


@pytest.mark.skipif(not COMPILED, reason="without Numba nothing is compiled")
def test_kernels_release_the_interpreter_lock() -> None:
    kernels = _kernels()

    assert len(kernels) > 10
    assert all(one.targetoptions["nogil"] for one in kernels)


@pytest.mark.skipif(not COMPILED, reason="without Numba nothing is compiled")
def test_machine_code_lies_in_the_users_cache() -> None:
    space_of(draw({"p": "line |aa"}))

    paths = {Path(one.stats.cache_path) for one in _kernels()}

    assert all(path.is_relative_to(kernel_cache()) for path in paths)
    assert kernel_cache().is_relative_to(os.environ["TBPROF_CACHE_DIR"])
    assert any(kernel_cache().rglob("*.nbc"))
    assert not [*PACKAGE.rglob("*.nbi"), *PACKAGE.rglob("*.nbc")]


@pytest.mark.skipif(not COMPILED, reason="without Numba nothing is compiled")
def test_kernels_of_the_reader_are_compiled_once_each() -> None:
    """A second signature would be compiled when a user waits, after all that warming up."""
    for seed in range(20):
        fuzz.read(generate.space(Random(seed)))

    several = {
        one.py_func.__name__: one.signatures
        for one in _kernels()
        if one.py_func.__module__.startswith("tbprof.xplane") and len(one.signatures) > 1
    }
    # The inner ones are compiled anew for each kind of integer that their callers hold.
    assert several.keys() <= {"read_varint", "read_length", "skip_value", "_skip_single", "_slot"}


def test_plain_python_reads_the_same_columns() -> None:
    contents = [
        draw(
            {"/device:GPU:0": "Stream #1 |mm.nn\n          |a..b."},
            names={"m": "matmul", "n": "matmul"},
            stats={
                "a": {"tf_op": "x", "flops": 2**63 - 1, "group_id": -(2**63)},
                "b": {"tf_op": "x", "flops": float("-inf")},
            },
        )
    ]
    contents += [
        content
        for seed in range(200)
        if b"/host:CPU" in (content := generate.space(Random(seed)))
        and len(space_of(content).planes)
    ]
    assert len(contents) > 30

    script = [sys.executable, "-W", "error", "-c", _PLAIN]
    path = os.pathsep.join([str(TESTS), str(PACKAGE.parent)])
    answer = subprocess.run(
        script,
        input="\n".join(content.hex() for content in contents),
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 0, answer.stderr
    expected = [whole(space_of(content)) for content in contents]
    assert json.loads(answer.stdout) == json.loads(json.dumps(expected))
