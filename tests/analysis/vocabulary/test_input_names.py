"""What the names of iterators say."""

import pytest

from tbprof.analysis.vocabulary.input_names import stage_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Iterator::A[1]::B[]::C[22]", "Iterator::A::B::C"),
        ("Iterator::A[1][0]::B", "Iterator::A::B"),
        ("Iterator::A[x]", "Iterator::A[x]"),
        ("Iterator::A[", "Iterator::A["),
        ("Iterator::Root::Zip[1]::Repeat[7]::Map", "Iterator::Root::Zip[1]::Repeat::Map"),
        ("Iterator::ConcatenateV2[0]::Map[0]", "Iterator::ConcatenateV2[0]::Map"),
        ("", ""),
    ],
)
def test_a_stage_is_named_without_the_numbers_of_copies(name: str, expected: str):
    """But with those of the inputs that a stage joins: they are stages of their own."""
    assert stage_name(name) == expected


def test_names_of_any_length_are_read_in_linear_time():
    name = "Iterator::" + "[1]" * 100_000 + "x::" + "[" * 100_000
    assert stage_name(name) == name
