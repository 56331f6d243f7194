"""Names in the order in which people count."""

from tbprof.base.natural_order import natural_order


def test_names_are_compared_as_people_count() -> None:
    texts = ["b", "Stream #10", "", "stream #9", "9", "a10b2", "a10b10", "10"]
    assert sorted(texts, key=lambda text: natural_order(text.lower())) == [
        "", "9", "10", "a10b2", "a10b10", "b", "stream #9", "Stream #10",
    ]  # fmt: skip


def test_equal_numbers_are_compared_as_they_are_written() -> None:
    assert sorted(["h1", "h01", "h1a", "h01b"], key=natural_order) == ["h01", "h1", "h1a", "h01b"]


def test_numbers_of_any_length_and_other_digits_are_no_problem() -> None:
    texts = ["h" + "9" * 5000, "h" + "1" * 5000, "h\u0663", "h" * 10**6]
    assert len(sorted(texts, key=natural_order)) == 4
