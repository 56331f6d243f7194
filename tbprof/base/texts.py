"""Texts of traces in payloads: cut to a bounded length, and each one once."""

from __future__ import annotations

from collections.abc import Iterable


def cut(text: str, most: int) -> str:
    """The text, without what follows its first `most` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


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
