"""Texts of programs are those that the compiler prints."""

import base64
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tbprof._pb import message
from tbprof.analysis.hlo.module import Module
from tbprof.analysis.hlo_text.hlo_instructions import EVENT, LONG, SHORT, Form
from tbprof.analysis.hlo_text.hlo_text import module_text

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).parent / "programs" / "attributes.hlo"
PROGRAMS, SEED = 45, "3"
FORMS = {"short": SHORT, "long": LONG._replace(has_metadata=True), "event": EVENT}
# Tables of source locations, which the compiler prints after the header and numbers differently.
_TABLE = re.compile(r'\d+ ["{]|FileNames|FunctionNames|FileLocations|StackFrames|\Z')
# What a module's proto does not say, and the numbers of stack frames.
_UNSAID = re.compile(
    r", metadata={stack_frame_id=\d+}| ?stack_frame_id=\d+|, allow_spmd_\w+={[a-z,]*}"
)


@pytest.fixture(scope="module")
def printed(compiled: Callable[..., list[str]]) -> list[dict[str, str]]:
    lines = compiled("hlo_texts.py", SOURCE, str(PROGRAMS), SEED)
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("form", FORMS)
def test_texts_are_those_of_the_compiler(printed: list[dict[str, str]], form: str):
    """Of every attribute of `attributes.hlo`, and of compiled programs."""
    assert len(printed) > PROGRAMS + 15
    for program in printed:
        theirs = _parts(program[form].splitlines())
        assert _parts(_ours(program, FORMS[form])) == theirs, program["name"]


def _ours(program: dict[str, str], form: Form) -> Iterable[str]:
    proto = message("xla.HloProto")()
    proto.hlo_module.ParseFromString(base64.b64decode(program["module"]))
    return module_text(Module(proto.SerializeToString()), form)


def _parts(lines: Iterable[str]) -> list[str]:
    """The header and the computations, which the compiler orders in another way.

    Without computations that run asynchronously: it writes them in place of their calls.
    """
    parts, part = [], []
    for line in lines:
        if _TABLE.match(line):
            continue
        part.append(_UNSAID.sub("", line))
        if line.startswith(("}", "HloModule")):
            text = "\n".join(part)
            parts += [] if "execution_thread=" in line else [_without_async(text)]
            part = []
    return sorted(parts)


def _without_async(text: str) -> str:
    return "\n".join(
        line
        for line in text.splitlines()
        if not re.search(r" (?:async|custom-call)-(?:start|update|done)\(", line)
    )
