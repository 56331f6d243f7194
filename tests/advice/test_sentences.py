"""Names, durations and sizes in sentences."""

import pytest

from tbprof.advice.pages import OPS
from tbprof.advice.sentences import milliseconds, shortened, size


def test_names_of_the_trace_are_cut_and_of_one_line():
    assert shortened("a\n b\t c") == "a b c"
    assert len(shortened("x" * 500)) <= 80
    assert shortened("x" * 500).startswith("xxx")
    assert OPS.showing(type="a&b=c").query == "f.type=a%26b%3Dc"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 µs"), (0.0123, "12.3 µs"), (0.1, "100 µs"), (1, "1 ms"), (12.34, "12.3 ms"),
     (999.4, "999 ms"), (1234, "1.23 s"), (12_345_000, "12345 s")],
)  # fmt: skip
def test_durations_in_sentences(value, text):
    assert milliseconds(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (5 * 2**20, "5 MiB"),
     (15.5 * 2**30, "15.5 GiB"), (15.25 * 2**30, "15.3 GiB"), (2**42, "4 TiB")],
)  # fmt: skip
def test_sizes_in_sentences(count, text):
    assert size(count) == text
