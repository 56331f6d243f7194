"""Every bad file, to every tool that is registered: an answer, or what to do about it."""

import pytest
from helpers.promises.all_pages import Ask, marked
from traces.bad_files import BAD_FILES

from tbprof.tools import TOOLS


@pytest.mark.parametrize("name", BAD_FILES)
def test_every_tool_answers_or_says_what_to_do(
    ask: Ask, name: str, caplog: pytest.LogCaptureFixture
):
    answer = ask(h0=BAD_FILES[name]())
    answered = {tool for tool, _ in answer.json}
    assert answered | set(answer.errors) == {tool.name for tool in TOOLS}
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("name", ["empty", "no trace", "text", "copied as text", "no threads"])
def test_a_bad_file_does_not_hide_a_good_one(ask: Ask, name: str):
    answer = ask(h0=marked(1, 2), h1=BAD_FILES[name]())
    assert answer.labels == ["train 1", "train 2"]
    assert answer.pod["hosts"][0] == "h0"
    assert answer.timelines["h0"].index["events"] == 4


@pytest.mark.parametrize("name", ["copied as text", "cut at 30 %", "cut at 90 %"])
def test_what_is_left_of_a_file_is_shown_with_a_warning(ask: Ask, name: str):
    answer = ask(h0=BAD_FILES[name]())
    for timeline in answer.timelines.values():
        assert timeline.index["warnings"]
    assert answer.timelines or {"bad_trace"} == {error.code for error in answer.errors.values()}
