"""Damage of a file as notices: each once, and only a few of each kind."""

from __future__ import annotations

import threading

from tbprof.base.errors import Notice

# Listed per kind of damage and file; more would not help the reader.
MOST_PER_KIND = 10


class Damage:
    """Collects notices on one part of a file; the parts share the counts of listed notices."""

    def __init__(
        self, where: str, counts: dict[str, int] | None = None, known: frozenset[str] = frozenset()
    ) -> None:
        self.where = where
        self._known = known
        self._counts: dict[str, int] = {} if counts is None else counts
        self._notices: dict[Notice, None] = {}
        self._lock = threading.Lock()

    def within(self, part: str, known: frozenset[str] = frozenset()) -> Damage:
        """A collector for a part of this part.

        Notices with `known` codes follow from those of the whole file, and are left out.
        """
        return Damage(f"{self.where}: {part}", self._counts, known)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """In the order in which they were found."""
        with self._lock:
            return tuple(self._notices)

    def note(self, code: str, message: str, hint: str = "") -> None:
        """Adds a notice unless it is known or a duplicate."""
        if code in self._known:
            return
        notice = Notice(code, f"{self.where}: {message}", hint=hint)
        with self._lock:
            if notice in self._notices:
                return
            listed = self._counts.get(code, 0)
            self._counts[code] = listed + 1
            if listed < MOST_PER_KIND:
                self._notices[notice] = None
            elif listed == MOST_PER_KIND:
                more = Notice(code, f"{self.where}: more of this kind follows, not listed")
                self._notices[more] = None
