"""Numbers, ranges and flags of requests for timelines."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from tbprof.base.errors import BadRequest
from tbprof.serving.http_requests import Parameters
from tbprof.serving.routes.timeline_parameters import TimelineParameters


def given_as(**values: str) -> TimelineParameters:
    return TimelineParameters(Parameters(MultiDict(values)))


def test_part_is_events_unless_told_otherwise():
    assert [given_as(part=part).part() for part in ("", "events", "derived")] == [
        "events", "events", "derived",
    ]  # fmt: skip
    assert given_as().part() == "events"
    with pytest.raises(BadRequest, match="part='all' is unknown"):
        given_as(part="all").part()


def test_integer_lies_within_its_bounds():
    assert given_as(level="12").integer("level", 0, 62) == 12
    assert given_as(level="-3").integer("level", -5, 62) == -3
    assert given_as().integer("limit", 1, 1000, 200) == 200
    with pytest.raises(BadRequest, match="'level' is missing"):
        given_as().integer("level", 0, 62)
    with pytest.raises(BadRequest, match="out of range"):
        given_as(level="63").integer("level", 0, 62)


@pytest.mark.parametrize("text", ["1.5", "1e3", "²", "٣", "--1", "-", "+1", " 1", "1_0", "9" * 20])
def test_other_texts_are_no_integers(text):
    with pytest.raises(BadRequest, match="whole number"):
        given_as(level=text).integer("level", 0, 62)


@pytest.mark.parametrize(
    ("text", "time_ps"),
    [
        ("0", 0), ("-5", -5), ("1500.9", 1500), ("-0.5", -1), ("1.5e3", 1500), ("1e+15", 10**15),
        (str(2**53 + 1), 2**53 + 1), (str(2**62), 2**62),
    ],
)  # fmt: skip
def test_times_are_read_as_browsers_write_numbers(text, time_ps):
    assert given_as(from_ps=text).time_ps("from_ps") == time_ps


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-inf", "1e19", str(2**63), "ten", "1_0", "0x10", "٣", "1,5"]
)
def test_other_texts_are_no_times(text):
    with pytest.raises(BadRequest, match="is not a time"):
        given_as(from_ps=text).time_ps("from_ps")


def test_time_that_is_not_given_is_the_default():
    assert given_as().time_ps("from_ps") is None
    assert given_as(from_ps="").time_ps("from_ps", 7) == 7


def test_flags():
    assert [given_as(case=text).flag("case") for text in ("", "0", "false", "1", "true")] == [
        False, False, False, True, True,
    ]  # fmt: skip
    with pytest.raises(BadRequest, match="neither 0 nor 1"):
        given_as(case="yes").flag("case")


def test_choice_is_the_first_unless_told_otherwise():
    assert given_as().choice("by", ("name", "track")) == "name"
    assert given_as(by="track").choice("by", ("name", "track")) == "track"
    with pytest.raises(BadRequest, match="by='color' is unknown") as raised:
        given_as(by="color").choice("by", ("name", "track"))
    assert "name, track" in raised.value.hint


def test_ranges_are_half_open():
    assert given_as(rows="0-45,60,7-7").ranges("rows") == ((0, 46), (60, 61), (7, 8))
    assert given_as().ranges("rows") == ()


@pytest.mark.parametrize("text", [",", "5-", "-5", "9-5", "1-2-3", "a", "1.5", str(2**32), "1,,2"])
def test_other_texts_are_no_ranges(text):
    with pytest.raises(BadRequest, match="neither a number nor a range"):
        given_as(rows=text).ranges("rows")


def test_words_are_kept_once_in_order():
    assert given_as(category="b,a,,b").words("category") == ("b", "a")


@given(st.text(max_size=30))
def test_no_text_is_a_defect(text):
    parameters = given_as(x=text)
    for read in (
        lambda: parameters.integer("x", 0, 9, 0),
        lambda: parameters.time_ps("x", 0),
        lambda: parameters.flag("x"),
        lambda: parameters.choice("x", ("",)),
        lambda: parameters.ranges("x"),
        lambda: parameters.words("x"),
        parameters.part,
    ):
        with contextlib.suppress(BadRequest):
            read()


@given(st.floats(-(2.0**60), 2.0**60))
def test_every_number_of_a_browser_is_a_time(number):
    assert given_as(x=repr(number)).time_ps("x") == math.floor(number)
