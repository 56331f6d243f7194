"""Which memories an op accessed."""

from builders.program_ops import access

from tbprof.analysis.tpu.accessed_memory import AccessedBytes, read_breakdown


def test_bytes_go_to_the_memory_that_is_stated():
    stated = access(1, 1, 30) + access(2, 1, 12) + access(1, 2, 1) + access(2, 2, 2)
    stated += access(1, 3, 4) + access(2, 3, 8) + access(1, 9, 16)
    assert read_breakdown(stated) == AccessedBytes(42, 1, 2, 20, 8)


def test_what_says_nothing_is_no_breakdown():
    assert read_breakdown(b"") is None
    assert read_breakdown(b"\xff") is None
