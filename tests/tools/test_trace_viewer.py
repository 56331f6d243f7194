"""What range a request for the trace viewer asks for."""

import pytest

from tbprof.advice.summaries import Summaries
from tbprof.base.errors import BadRequest
from tbprof.tools.model.tool import EventStream
from tbprof.tools.trace_viewer import build


def asked(**params: str) -> object:
    return build(Summaries(("h0",), {}, params))


@pytest.mark.parametrize(
    ("params", "start_ms", "end_ms"),
    [
        ({}, None, None),
        ({"start_time_ms": "", "end_time_ms": ""}, None, None),
        ({"start_time_ms": "12.5"}, 12.5, None),
        ({"end_time_ms": "1e3"}, None, 1000.0),
        ({"start_time_ms": "-2", "end_time_ms": "7"}, -2.0, 7.0),
        ({"start_time_ms": "5", "end_time_ms": "5"}, 5.0, 5.0),
        ({"start_time_ms": "0", "end_time_ms": "0"}, 0.0, None),  # 0 is the end of the trace
        ({"start_time_ms": "9", "end_time_ms": "0"}, 9.0, None),
        ({"resolution": "8000", "full_dma": "true"}, None, None),
    ],
)
def test_a_range_in_milliseconds(
    params: dict[str, str], start_ms: float | None, end_ms: float | None
) -> None:
    assert asked(**params) == EventStream(start_ms, end_ms)


@pytest.mark.parametrize("text", ["x", "1,5", "nan", "inf", "-inf", "1e999", "0x10", "١x"])
def test_what_is_no_time_is_told(text: str) -> None:
    with pytest.raises(BadRequest, match=r"end_time_ms=.* is not a time"):
        asked(end_time_ms=text)


def test_tracks_that_the_trace_lacks_may_be_left_out() -> None:
    assert asked(derived="0") == EventStream(None, None, has_derived=False)
    assert asked(derived="1") == asked(derived="") == asked()
    with pytest.raises(BadRequest, match="derived='x' is unknown"):
        asked(derived="x")


def test_a_larger_size_may_be_allowed() -> None:
    assert asked(max_gb="2.5") == EventStream(None, None, max_gb=2.5)
    assert asked(max_gb="") == asked()


@pytest.mark.parametrize("text", ["x", "0", "-1", "nan", "inf", "1e9"])
def test_what_is_no_size_is_told(text: str) -> None:
    with pytest.raises(BadRequest, match=r"max_gb=.* is not a size"):
        asked(max_gb=text)


def test_a_range_that_ends_before_it_starts_is_told() -> None:
    with pytest.raises(BadRequest, match="start_time_ms=3 is after end_time_ms=2"):
        asked(start_time_ms="3", end_time_ms="2")
