"""What can be recorded, and what cannot."""

from datetime import datetime, timezone

import pytest

from tbprof.capturing.requests.options import BadOption, CaptureOptions, parse_advanced


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        ({"duration_ms": 0}, "duration_ms"),
        ({"duration_ms": -5}, "duration_ms"),
        ({"duration_ms": 10**9}, "duration_ms"),
        ({"delay_ms": -1}, "delay_ms"),
        ({"host_level": 4}, "host_level"),
        ({"device_level": 2}, "device_level"),
        ({"python_level": -1}, "python_level"),
        ({"host_level": 0, "device_level": 0}, "host_level"),
        ({"retries": 21}, "retries"),
        ({"run": "../x"}, "run"),
        ({"run": ".hidden"}, "run"),
        ({"run": "a..b"}, "run"),
        ({"run": "a/b"}, "run"),
        ({"advanced": {"a b": 1}}, "advanced"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused_by_its_field(choice, field):
    with pytest.raises(BadOption) as caught:
        CaptureOptions(**choice)
    assert caught.value.field == field


def test_the_deadline_includes_the_delay():
    assert CaptureOptions(duration_ms=500, delay_ms=90_000).deadline_s == 90 + 0.5 + 60
    assert CaptureOptions(duration_ms=40_000).deadline_s == 40 + 80


def test_a_run_is_called_by_the_time():
    now = datetime(2026, 11, 21, 1, 2, 3, tzinfo=timezone.utc)
    assert CaptureOptions().run_name(now) == "2026_11_21_01_02_03"
    assert CaptureOptions(run="before").run_name(now) == "before"


def test_advanced_options_are_numbers_truths_or_texts():
    given = {"a": "3", "b": "-4", "c": "True", "d": "x1", "e": "9" * 30}
    assert parse_advanced(given) == {"a": 3, "b": -4, "c": True, "d": "x1", "e": "9" * 30}
