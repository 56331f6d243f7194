"""Texts of traces and requests: cut to a bounded length, each one once, and read as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def cut(text: str, most: int) -> str:
    """The text, without what follows its first `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


def few(texts: Sequence[str], most: int, separator: str = ", ") -> str:
    """The first of many texts, joined: "a, b and 3 more"."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return separator.join(texts[:most]) + more


def whole_number(text: str, most_digits: int, *, is_signed: bool = False) -> int | None:
    """The number that a text consists of, None if it is something else or has more digits.

    Only numbers that may be `is_signed` begin with a minus.
    """
    digits = text.removeprefix("-") if is_signed else text
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= most_digits
    return int(text) if is_number else None


class NumberedTexts:
    """Distinct texts, numbered in order of use."""

    def __init__(self, *first: str) -> None:
        self._number = {text: number for number, text in enumerate(first)}

    def number(self, text: str) -> int:
        """The number of a text."""
        return self._number.setdefault(text, len(self._number))

    def numbers(self, texts: Iterable[str]) -> list[int]:
        """The number of each text."""
        return [self.number(text) for text in texts]

    def all(self) -> list[str]:
        """The texts by number."""
        return list(self._number)
