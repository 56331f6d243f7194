"""The wire: what is asked, and how answers are read without copying the trace."""

import pytest
from helpers.promises.growth import is_linear
from hypothesis import given
from hypothesis import strategies as st

from tbprof._pb import message
from tbprof.capturing.protocol.profiler_messages import (
    AnswerReader,
    Garbled,
    profile_request,
    read_recorder_errors,
    session_answer,
    session_request,
)
from tbprof.capturing.requests.options import CaptureOptions


def test_a_request_says_all_that_servers_heed():
    options = CaptureOptions(
        duration_ms=500, host_level=3, device_level=0, python_level=1, has_hlo=False,
        advanced={"power": 2, "name": "x", "on": True},
    )  # fmt: skip
    data = profile_request(options, "/logs/plugins/profile", "run", "a:1", 123)
    request = message("tensorflow.ProfileRequest").FromString(data)
    assert (request.duration_ms, request.opts.duration_ms) == (500, 500)
    assert request.opts.version == 1
    levels = request.opts
    assert (levels.host_tracer_level, levels.device_tracer_level) == (3, 0)
    assert levels.python_tracer_level == 1
    assert not levels.enable_hlo_proto
    assert request.emit_xspace
    assert request.opts.start_timestamp_ns == 123
    assert (request.repository_root, request.session_id) == ("/logs/plugins/profile", "run")
    assert request.host_name == "a:1"
    advanced = request.opts.advanced_configuration
    assert advanced["power"].int64_value == 2
    assert advanced["name"].string_value == "x"
    assert advanced["on"].WhichOneof("value") == "bool_value"


def test_a_session_of_tpu_workers_holds_the_request():
    profile = profile_request(CaptureOptions(), "gs://b/plugins/profile", "run", "a", 0)
    data = session_request(profile, "gs://b/plugins/profile", "run", ["a", "b"])
    request = message("tensorflow.NewProfileSessionRequest").FromString(data)
    assert list(request.hosts) == ["a", "b"]
    assert request.request.SerializeToString() == profile


def read(data: bytes, size: int = 1 << 20) -> tuple[bytes, AnswerReader]:
    """(the trace, the reader) of an answer that comes in pieces of `size` bytes."""
    pieces: list[bytes] = []
    reader = AnswerReader(pieces.append)
    for start in range(0, len(data), size):
        reader.feed(data[start : start + size])
    return b"".join(pieces), reader


@pytest.mark.parametrize("size", [1, 2, 7, 1 << 20])
def test_the_trace_of_an_answer_is_the_bytes_that_were_sent(size):
    space = message("tensorflow.profiler.XSpace")(hostnames=["a"], errors=["no CUPTI", "no CUPTI"])
    sent = space.SerializeToString() + b"\x9a\x06\x03abc"  # and a field that nobody knows
    response = message("tensorflow.ProfileResponse")(xspace=sent)
    response.tool_data.add(name="x.pb", data=b"file")
    trace, reader = read(response.SerializeToString(), size)
    assert trace == sent
    assert reader.has_trace
    answer = reader.answer()
    assert not answer.is_empty
    assert {name: bytes(content) for name, content in answer.files.items()} == {"x.pb": b"file"}
    assert read_recorder_errors(memoryview(trace)) == ["no CUPTI"]


FILE = b"\x32\x80\x80\x80\x80\x08"  # tool_data of 2 GB


@pytest.mark.parametrize(
    "prepare",
    [
        pytest.param(lambda size: (FILE + bytes(8 * size), 1 << 14), id="one large field"),
        pytest.param(lambda size: (b"\x38\x00" * (size // 8), 1 << 18), id="many small fields"),
    ],
)
def test_answers_are_read_in_linear_time(prepare):
    def work(size: int):
        data, piece = prepare(size)
        return lambda: read(data, piece)

    assert is_linear(work, 1 << 22)


def test_errors_of_recorders_are_bounded():
    texts = [f"{number} " + "x" * 10_000 for number in range(1000)]
    space = message("tensorflow.profiler.XSpace")(errors=texts).SerializeToString()
    recorder_errors = read_recorder_errors(memoryview(space))
    assert len(recorder_errors) == 100
    assert max(map(len, recorder_errors)) == 2000


def test_answers_without_a_trace():
    response = message("tensorflow.ProfileResponse")
    assert not read(b"")[1].has_trace
    assert read(response(empty_trace=True).SerializeToString())[1].answer().is_empty
    # A trace of nothing is one.
    assert read(b"\x42\x00")[1].has_trace


@pytest.mark.parametrize("data", [b"\x42\x05ab", b"\x32\x05ab", b"\x42", b"\x38", b"\x42\xff"])
def test_an_answer_that_is_cut_off_is_garbled(data):
    with pytest.raises(Garbled):
        read(data)[1].answer()


@given(st.binary(max_size=60), st.integers(1, 60))
def test_anything_else_is_garbled_or_an_answer(data, size):
    try:
        trace, reader = read(data, size)
        reader.answer()
        read_recorder_errors(memoryview(trace))
    except Garbled:
        pass


def test_a_session_that_failed_says_so():
    answer = message("tensorflow.NewProfileSessionResponse")(error_message="no bucket")
    assert session_answer(answer.SerializeToString()) == ("no bucket", False)
    with pytest.raises(Garbled):
        session_answer(b"\xff\xff")
