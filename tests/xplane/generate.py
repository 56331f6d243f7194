"""Random spaces as the wire allows them: any order, duplicates, dangling ids, unknown fields."""

import functools
import struct
from random import Random

IDS = (0, 1, 2, 3, 3, -1, -(2**63), 2**63 - 1, 2**32 + 1, 1 << 44, 2 << 44)
NAMES = ("tf_op", "flops", "kernel_details", "group_id", "hlo_op", "device_offset_ps")
MORE_NAMES = (
    "Hlo Proto", "_ipl_stage_cat", "_ipl_stage_id", "annotation", "bytes_accessed",
    "clock_rate", "compute_cap_major", "compute_cap_minor", "core_count", "device_duration_ps",
    "device_type_string", "device_vendor", "equation", "hlo_category", "memory_bandwidth",
    "peak_hbm_bw_gigabytes_per_second", "peak_teraflops_per_second",
    "hlo_module", "is_eager", "is_func", "level 0", "memory_access_breakdown", "program_id",
    "self_duration_ps",
)  # fmt: skip
TEXTS = (
    "", "a", "b", "a/MatMul:MatMul", "jit(f)/jit(main)/dot_general:", "EagerExecute", "end: dot",
    "Iterator::Batch::Map", "regs:3 grid:1,2,3 occ_pct:nan", "sgemm_128x64_nn", "dot.1",
    "\0", "é…𝄞", "<script>", "../..", *NAMES, *NAMES, *MORE_NAMES,
)  # fmt: skip
PLANE_NAMES = ("/host:CPU", "/device:GPU:0", "/device:GPU:0", "/device:TPU:0", "/host:metadata", "")
LINE_NAMES = ("", "Stream #1(Compute)", "XLA Ops", "XLA Modules", "Steps", "python")
TIMES = (0, 0, 1, 1, 5, 7, 1000, 10**6, 2**40)
WILD_TIMES = (-1, 2**57, 2**57 + 1, 2**63 - 1, -(2**63))
STAMPS = (0, 0, 5, 7310, -3, 10**17, 1_800_000_000 * 10**9, 1_800_000_000 * 10**9 + 12_345)


@functools.lru_cache(1 << 12)  # most are numbers of fields, and small
def varint(value: int) -> bytes:
    """A varint; negative numbers as two's complement."""
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def scalar(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def body(number: int, content: bytes | str) -> bytes:
    raw = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def fixed32(number: int, value: int = 0) -> bytes:
    return varint(number << 3 | 5) + struct.pack("<I", value)


def group(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 3) + content + varint(number << 3 | 4)


def _unknown(random: Random, known: tuple[int, ...] = ()) -> bytes:
    """A field that the message does not have; one of `known` only by a wire type of no meaning."""
    number = random.choice((19, 1000, 2**29 - 1))
    kind = random.randrange(6)
    if known and kind == 0:
        return fixed32(random.choice(known), 7)
    return (
        scalar(number, random.choice(IDS)),
        double(number, 1.0),
        body(number, b"\x08\x96\x01"),
        fixed32(number),
        group(number, scalar(1, 1) + group(3, body(2, b"xyz")) + fixed32(4)),
        b"",
    )[kind]


def _mixed(random: Random, parts: list[bytes], known: tuple[int, ...] = ()) -> bytes:
    """The parts in any order, sometimes with an unknown field among them."""
    if random.randrange(6) == 0:
        parts.append(_unknown(random, known))
    random.shuffle(parts)
    return b"".join(parts)


def _maybe(random: Random, part: bytes) -> list[bytes]:
    return [part] if random.randrange(5) else []


def stat(random: Random) -> bytes:
    parts = _maybe(random, scalar(1, random.choice(IDS)))
    for _ in range(random.choice((0, 1, 1, 1, 1, 1, 2))):
        number = random.choice((3, 4, 7))
        parts.append(
            random.choice(
                (
                    scalar(number, random.choice(IDS)),
                    scalar(7, random.choice(IDS)),
                    double(2, random.choice((0.0, -0.0, 1.5, float("inf"), float("nan")))),
                    body(5, random.choice(TEXTS)),
                    body(6, random.choice((b"", b"\x00\xff", b"\x80" * 3))),
                )
            )
        )
    return _mixed(random, parts, (1, 2, 3, 5))


def event(random: Random) -> bytes:
    times = TIMES + WILD_TIMES if random.randrange(8) == 0 else TIMES
    parts = _maybe(random, scalar(1, random.choice(IDS)))
    for _ in range(random.choice((0, 1, 1, 1, 1, 1, 2))):
        parts.append(scalar(random.choice((2, 2, 2, 2, 5)), random.choice(times)))
    parts += _maybe(random, scalar(3, random.choice(times)))
    parts += [body(4, stat(random)) for _ in range(random.choice((0, 0, 1, 2, 3)))]
    return _mixed(random, parts, (1, 2, 3, 4))


def line(random: Random, number: int) -> bytes:
    """An XLine; fields may follow the events, all but the first id and name."""
    parts = [
        scalar(1, number),
        body(2, random.choice(LINE_NAMES)),
        scalar(3, random.choice(STAMPS)),
    ]
    parts += _maybe(random, body(11, random.choice(TEXTS)))
    head = _mixed(random, parts, (1, 2, 3, 10))
    events = [body(4, event(random)) for _ in range(random.choice((0, 1, 3, 6)))]
    late = []
    if random.randrange(3) == 0:
        late = [
            scalar(10, random.choice(IDS)),
            body(11, random.choice(TEXTS)),
            body(2, random.choice(LINE_NAMES)),
            scalar(1, random.choice(IDS)),
            scalar(3, random.choice((0, 9, -2))),
        ]
        late = late[: random.randrange(6)]
    # Behind the first event: what precedes it tells which XLines are one timeline.
    return head + b"".join(events[:1]) + _mixed(random, events[1:] + late if events else [])


def _entry(random: Random, value: bytes) -> bytes:
    parts = _maybe(random, scalar(1, random.choice(IDS)))
    parts += _maybe(random, body(2, value))
    # No unknown fields: protobuf then takes the whole entry for one (and we do not).
    random.shuffle(parts)
    return b"".join(parts)


def event_metadata(random: Random) -> bytes:
    parts = _maybe(random, scalar(1, random.choice(IDS)))
    parts += _maybe(random, body(2, random.choice(TEXTS)))
    parts += _maybe(random, body(3, b"\x00\x01"))
    parts += _maybe(random, body(4, random.choice(TEXTS)))
    parts += [body(5, stat(random)) for _ in range(random.choice((0, 0, 1, 2)))]
    parts += _maybe(random, random.choice((scalar(6, 5), body(6, b"\x01\x02\x96\x01"))))
    return _mixed(random, parts, (1, 2, 4, 5))


def stat_metadata(random: Random, names: tuple[str, ...]) -> bytes:
    parts = _maybe(random, scalar(1, random.choice(IDS)))
    parts += _maybe(random, body(2, random.choice(names)))
    parts += _maybe(random, body(3, random.choice(TEXTS)))
    return _mixed(random, parts, (1, 2, 3))


def plane(random: Random) -> bytes:
    names = random.choice((TEXTS, NAMES, NAMES + MORE_NAMES))
    numbers = random.sample(IDS, random.choice((0, 1, 1, 2, 3)))
    parts = [scalar(1, random.choice(IDS)), body(2, random.choice(PLANE_NAMES))]
    parts += [body(3, line(random, number)) for number in dict.fromkeys(numbers)]
    parts += [
        body(4, _entry(random, event_metadata(random))) for _ in range(random.choice((0, 2, 5)))
    ]
    parts += [
        body(5, _entry(random, stat_metadata(random, names)))
        for _ in range(random.choice((0, 3, 8)))
    ]
    parts += [body(6, stat(random)) for _ in range(random.choice((0, 2, 5)))]
    return _mixed(random, parts, (1, 2, 3, 4, 5, 6))


def space(random: Random) -> bytes:
    """A serialized XSpace that protobuf parses, whatever `random` chooses."""
    parts = [body(1, plane(random)) for _ in range(random.choice((1, 1, 2, 3)))]
    parts += _maybe(random, body(4, random.choice(TEXTS)))
    parts += _maybe(random, body(2, random.choice(TEXTS)))
    parts += _maybe(random, body(3, random.choice(TEXTS)))
    return _mixed(random, parts, (1, 2, 3, 4))
