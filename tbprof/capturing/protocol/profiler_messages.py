"""Messages on the wire: requests, and responses without a copy of the trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tbprof._pb import message
from tbprof.base.records import dataclass, field
from tbprof.capturing.requests.options import CaptureOptions

PROFILE = "/tensorflow.ProfilerService/Profile"
TERMINATE = "/tensorflow.ProfilerService/Terminate"
MONITOR = "/tensorflow.ProfilerService/Monitor"
NEW_SESSION = "/tensorflow.ProfileAnalysis/NewSession"

# The outputs of older TPU services; current servers ignore it. Source: the profile plugin.
_TOOLS = (
    "trace_viewer", "op_profile", "input_pipeline", "kernel_stats", "memory_viewer",
    "memory_profile", "overview_page", "pod_viewer", "tensorflow_stats", "xplane.pb",
)  # fmt: skip
_MAX_EVENTS = 1_000_000
_TOOL_DATA, _EMPTY_TRACE, _XSPACE = 6, 7, 8
_SPACE_ERRORS, _SPACE_WARNINGS = 2, 3
_MOST_ERRORS, _LONGEST_ERROR = 100, 2000
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Garbled(ValueError):
    """Bytes that are not a valid message."""


class CutOff(Garbled):
    """Bytes that end in the middle of a message."""


@dataclass(frozen=True, slots=True)
class ProfileAnswer:
    """A profiler's response besides its trace: files by name, whether it recorded nothing."""

    files: dict[str, memoryview] = field(default_factory=dict)
    is_empty: bool = False


def profile_request(
    options: CaptureOptions, root: str, run: str, host: str, start_ns: int
) -> bytes:
    """A `ProfileRequest`: record for `options`, from `start_ns` (0: at once), and send the trace.

    `root` and `run` are where servers that send no trace put their files.
    """
    request = message("tensorflow.ProfileRequest")(
        duration_ms=options.duration_ms,
        max_events=_MAX_EVENTS,
        tools=_TOOLS,
        repository_root=root,
        session_id=run,
        host_name=host,
        emit_xspace=True,
    )
    opts = request.opts
    opts.version = 1  # otherwise servers use their own levels
    opts.include_dataset_ops = options.has_dataset_ops
    opts.host_tracer_level = options.host_level
    opts.device_tracer_level = options.device_level
    opts.python_tracer_level = options.python_level
    opts.enable_hlo_proto = options.has_hlo
    opts.duration_ms = options.duration_ms  # the one that servers use
    opts.start_timestamp_ns = start_ns
    opts.repository_path = root
    opts.session_id = run
    for name, value in options.advanced.items():
        entry = opts.advanced_configuration[name]
        if isinstance(value, bool):
            entry.bool_value = value
        elif isinstance(value, int):
            entry.int64_value = value
        else:
            entry.string_value = value
    data: bytes = request.SerializeToString()
    return data


def session_request(profile: bytes, root: str, run: str, hosts: Sequence[str]) -> bytes:
    """A `NewProfileSessionRequest`: the TPU service records `hosts` and writes their files."""
    request = message("tensorflow.NewProfileSessionRequest")(
        repository_root=root, session_id=run, hosts=hosts
    )
    request.request.ParseFromString(profile)
    data: bytes = request.SerializeToString()
    return data


def session_answer(data: bytes) -> tuple[str, bool]:
    """(error message, whether nothing was recorded) of a `NewProfileSessionResponse`."""
    from google.protobuf.message import DecodeError

    try:
        answer = message("tensorflow.NewProfileSessionResponse").FromString(data)
    except DecodeError as error:
        raise Garbled(str(error)) from error
    return str(answer.error_message), bool(answer.empty_trace)


class AnswerReader:
    """Reads a `ProfileResponse` that arrives in pieces, and passes its trace on.

    `receive` gets the pieces of the trace; `has_trace` says whether there was one.
    """

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        self._head = b""  # the beginning of an incomplete field
        self._left = 0  # bytes of the current field that have not arrived
        self._is_in_trace = False
        self._others = bytearray()
        self.has_trace = False

    def feed(self, data: bytes) -> None:
        """Takes the next piece. Raises Garbled."""
        view = memoryview(self._head + data if self._head else data)
        self._head = b""
        offset = 0
        while offset < len(view):
            if self._left:
                piece = view[offset : offset + self._left]
                self._take(piece)
                offset += len(piece)
                continue
            try:
                offset = self._begin_field(view, offset)
            except CutOff:
                self._head = bytes(view[offset:])
                return

    def _take(self, piece: memoryview) -> None:
        self._left -= len(piece)
        if self._is_in_trace:
            self._receive(bytes(piece))
        else:
            self._others += piece

    def _begin_field(self, view: memoryview, begin: int) -> int:
        """Where the content of a field begins, or ends if it is a number. Raises Garbled."""
        key, offset = _varint(view, begin)
        self._is_in_trace = key == (_XSPACE << 3 | _BYTES)
        kind = key & 7
        left = 0
        if kind == _BYTES:
            left, offset = _varint(view, offset)
        elif kind == _VARINT:
            _, offset = _varint(view, offset)
        elif kind in (_FIXED64, _FIXED32):
            left = 8 if kind == _FIXED64 else 4
        else:
            raise Garbled(f"wire type {kind}")
        self._left = left
        if self._is_in_trace:
            self.has_trace = True
        else:
            self._others += view[begin:offset]
        return offset

    def answer(self) -> ProfileAnswer:
        """The response besides the trace, once it is complete. Raises Garbled."""
        if self._left or self._head:
            raise Garbled("a field is cut off")
        files: dict[str, memoryview] = {}
        is_empty = False
        for number, value in _fields(memoryview(bytes(self._others))):
            if number == _TOOL_DATA and isinstance(value, memoryview):
                parts = dict(_fields(value))
                name, content = parts.get(1), parts.get(2, memoryview(b""))
                if isinstance(name, memoryview) and isinstance(content, memoryview):
                    files[bytes(name).decode("utf-8", "replace")] = content
            elif number == _EMPTY_TRACE:
                is_empty = bool(value)
        return ProfileAnswer(files, is_empty)


def read_recorder_errors(trace: memoryview) -> list[str]:
    """The recorder's own errors and warnings in an XSpace, each once. Raises Garbled.

    At most `_MOST_ERRORS`, of at most `_LONGEST_ERROR` bytes.
    """
    texts: dict[str, None] = {}
    for number, value in _fields(trace):
        is_error = number in (_SPACE_ERRORS, _SPACE_WARNINGS) and len(texts) < _MOST_ERRORS
        if is_error and isinstance(value, memoryview):
            texts[bytes(value[:_LONGEST_ERROR]).decode("utf-8", "replace")] = None
    return list(texts)


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """(number, value) of each field of a message; fixed ones are skipped."""
    offset = 0
    while offset < len(data):
        key, offset = _varint(data, offset)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, offset = _varint(data, offset)
            yield number, value
        elif kind == _BYTES:
            size, offset = _varint(data, offset)
            if offset + size > len(data):
                raise Garbled("a field is cut off")
            yield number, data[offset : offset + size]
            offset += size
        elif kind in (_FIXED64, _FIXED32):
            offset += 8 if kind == _FIXED64 else 4
        else:
            raise Garbled(f"wire type {kind}")
    if offset > len(data):
        raise Garbled("a field is cut off")


def _varint(data: memoryview, offset: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if offset >= len(data):
            raise CutOff("a number is cut off")
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, offset
    raise Garbled("a number is too long")
