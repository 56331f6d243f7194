"""What holds for every sentence on every page, whatever the trace is like.

No number is NaN, infinite or minus zero, no percentage is over 100, and what a finding names is in
the trace.
"""

import re
from collections.abc import Iterator

from helpers.payloads import values_in
from tbprof.base.errors import TbprofError
from tbprof.engine.engine import DataRequest, Engine
from tbprof.engine.requests import Body
from tbprof.storage.files import local_trace
from tbprof.tools import TOOLS
from tbprof.xplane.reader import read_space

_NUMBERS = re.compile(r"(?<![\w$./:-])(?:nan|[-−+]?inf(?:inity)?)(?![\w/:.(])", re.IGNORECASE)
_MINUS_ZERO = re.compile(r"(?<![\w$./:^-])[-−]0+(?:\.0+)?(?![\d.\w])")
_PERCENT = re.compile(r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)\s?%(?!\w)")
# Names of threads, frames and stages of pipelines, devices, and what is quoted.
_SUBJECTS = re.compile(
    r"Iterator::[\w:\[\]]+|\$[\w.<>/-]+:\d+ [\w.<>]+|\b[GT]PU:\d+|(?<!\w)'([^']+)'(?!\w)"
)
_FINDINGS = 7


def check_sentence(text: str) -> None:
    """Fails where a sentence holds what is not a number for people."""
    assert not _NUMBERS.search(text), text
    assert not _MINUS_ZERO.search(text), text
    for found in _PERCENT.findall(text):
        assert float(found.replace(",", "")) <= 100, text


def check_sentences(engine: Engine, run: str, **params: str) -> None:
    """The same for all texts of all pages of a run, and the subjects of its findings."""
    for tool in TOOLS:
        if tool.is_streamed:
            continue
        for layout in ("rows", "columns"):
            request = DataRequest(run, tool.name, layout=layout, params=params)
            try:
                answer = engine.data(request)
            except TbprofError as error:
                check_sentence(error.message)
                check_sentence(error.hint)
                continue
            assert isinstance(answer, Body)
            for value in values_in(answer.content):
                if isinstance(value, str):
                    check_sentence(value)
    check_subjects(engine, run, **params)


def check_subjects(engine: Engine, run: str, **params: str) -> None:
    """Fails where a finding names what the run's files do not."""
    try:
        tables = engine.tables(DataRequest(run, "overview_page", params=params))
    except TbprofError:
        return
    known = "\n".join([*_names(engine, run), *params.values()])
    table = tables[_FINDINGS]
    sentences = [*table.column("title").cells(), *table.column("detail").cells()]
    sentences.append(tables[1].properties.get("step_note", ""))
    for sentence in map(str, sentences):
        for found in _SUBJECTS.finditer(sentence):
            for piece in (found[1] or found[0]).split("…"):
                assert piece in known, (piece, sentence)


def _names(engine: Engine, run: str) -> Iterator[str]:
    """All names in the files of a run, of planes, lines and events, and texts in stats of types."""
    for file in engine.run(run).files:
        try:
            with local_trace(file, None) as local:
                space = read_space(local)
        except TbprofError:
            continue
        for plane in space.planes:
            yield plane.name
            yield from plane.strings.take(plane.lines.name.tolist())
            yield from (" ".join(type_name.split()) for type_name in _type_names(plane))
            for value in plane.stats.values():
                yield str(value)


def _type_names(plane: object) -> list[str]:
    types = plane.types  # type: ignore[attr-defined]
    known = [*types.name.tolist(), *(one for one in types.display_name.tolist() if one >= 0)]
    return list(plane.strings.take(known))  # type: ignore[attr-defined]
