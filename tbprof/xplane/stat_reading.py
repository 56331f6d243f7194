"""Typed key-value stats of events, types and planes: a few keys of many messages in one pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tbprof.base.process.parallel import in_parallel
from tbprof.events.marks import MarkNames
from tbprof.events.space import Value
from tbprof.events.stats import (
    ABSENT,
    BYTES,
    DOUBLE,
    REFERENCE,
    TEXT,
    UINT64,
    StatColumn,
    StatRows,
)
from tbprof.events.strings import Strings
from tbprof.kernels.codes import AS_FLAG, AS_NUMBER, AS_RARE, MOST_FLAGS, STAT_DAMAGED
from tbprof.kernels.xplane.equal_texts import set_text_ids
from tbprof.kernels.xplane.id_lookup import find_texts, row_of
from tbprof.kernels.xplane.stat_decoding import (
    StatMessages,
    WantedStats,
    decode_stat,
    decode_stats,
    mark_stats,
)
from tbprof.xplane.buffer import Buffer
from tbprof.xplane.damage import Damage
from tbprof.xplane.interning import InternedTexts, in_file_order, intern_texts
from tbprof.xplane.lines.events import StatsToRead
from tbprof.xplane.lookup import rows_of_short_ids
from tbprof.xplane.metadata import Dictionary
from tbprof.xplane.stat_rows import read_rows

_PER_PASS = 1 << 16
_NO_IDS: NDArray[np.int32] = np.empty(0, np.int32)


class StatReader:
    """Reads the stats of one plane. Implements events.stats.TextSource."""

    def __init__(
        self, buffer: Buffer, strings: Strings, damage: Damage, dictionary: Callable[[], Dictionary]
    ) -> None:
        self._buffer = buffer
        self._strings = strings
        self._damage = damage
        self._read_dictionary = dictionary
        # Texts are shared with other passes: most occur in all parts of a plane.
        self._idle_texts: list[InternedTexts] = []

    @cached_property
    def _dictionary(self) -> Dictionary:
        return self._read_dictionary()

    @cached_property
    def names(self) -> list[str]:
        """The name of each stat metadata row, which may be a text that stats reference."""
        return self._buffer.texts(self._dictionary.name)

    @cached_property
    def _last_row(self) -> dict[str, int]:
        """The last row of each name. Texts of stats are names, too, so there may be thousands."""
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @cached_property
    def _earlier_rows(self) -> dict[str, list[int]]:
        """The other rows of each name; several ids may have one name."""
        earlier: dict[str, list[int]] = {}
        if len(self._last_row) < len(self.names):
            for row, name in enumerate(self.names):
                if row != self._last_row[name]:
                    earlier.setdefault(name, []).append(row)
        return earlier

    @cached_property
    def stat_names(self) -> frozenset[str]:
        """All names."""
        return frozenset(self._last_row)

    @cached_property
    def _rows_of_short_ids(self) -> NDArray[np.int32]:
        return rows_of_short_ids(self._dictionary.lookup)

    @cached_property
    def _name_ids(self) -> NDArray[np.int32]:
        return self._strings.intern(self.names)

    def columns(
        self,
        source: NDArray[np.int64],
        names: Sequence[str],
        field: int,
        texts: Collection[str] = (),
    ) -> dict[str, StatColumn]:
        """One column [n] per name, of the stats in field `field` of the messages at `source` [n].

        `source` are offsets of the messages' length varints, -1 for none. The texts of the names
        that `texts` contains are read in the same pass.
        """
        kinds = np.zeros((len(names), source.size), np.uint8)
        bits = np.zeros((len(names), source.size), np.int64)
        known, slots = self._slots(names)
        if source.size and known:
            by_id = slots[self._rows_of_short_ids]  # -1 is the last
            is_numbered = np.zeros(len(names), np.uint8)
            numbered = [index for index, name in enumerate(names) if name in texts] if texts else []
            is_numbered[numbered] = True
            wanted = WantedStats(known, slots, by_id, is_numbered, kinds, bits)
            self._decode(source, field, wanted, [(kinds[index], bits[index]) for index in numbered])
        return {
            name: StatColumn(kinds[index], bits[index], self) for index, name in enumerate(names)
        }

    def stats_to_read(self, marks: MarkNames) -> StatsToRead:
        """How each stat is read while events are decoded."""
        mode_of_row = np.zeros(len(self.names), np.int8)
        modes = [(marks.number, AS_NUMBER), *((name, AS_RARE) for name in marks.rare)]
        modes += [(name, AS_FLAG + index) for index, name in enumerate(marks.flags[:MOST_FLAGS])]
        for name, mode in modes:
            if name in self._last_row:
                mode_of_row[[self._last_row[name], *self._earlier_rows.get(name, ())]] = mode
        return StatsToRead.of(mode_of_row, self._dictionary.lookup, has_number=marks.number != "")

    def _slots(self, names: Sequence[str]) -> tuple[int, NDArray[np.int32]]:
        """(how many of the names the plane has, the name of each row of stat metadata).

        -1 if it is not requested; the last is for no row.
        """
        known = 0
        slots = np.full(len(self.names) + 1, -1, np.int32)
        for index, name in enumerate(names):
            if name in self._last_row:
                known += 1
                for row in (self._last_row[name], *self._earlier_rows.get(name, ())):
                    slots[row] = index
        return known, slots

    def _decode(
        self,
        source: NDArray[np.int64],
        field: int,
        wanted: WantedStats,
        numbered: Sequence[tuple[NDArray[np.uint8], NDArray[np.int64]]],
    ) -> None:
        """Fills the columns of `wanted`; the texts of those that are `numbered` become ids."""
        lookup = self._dictionary.lookup

        def decode_part(begin: int) -> int:
            part = source[begin : begin + _PER_PASS]
            begins, rows = in_file_order(part)
            messages = StatMessages(begins, rows + begin if begin else rows, field)
            progress = self._buffer.messages()
            texts = self._take_texts()
            damaged = 0
            for window in self._buffer.around(progress, begins):
                damaged += decode_stats(window, progress, messages, lookup, wanted, texts.known)
                texts.leave_window()
            for kinds, bits in numbered:
                piece = slice(begin, begin + part.size)
                set_text_ids(kinds[piece], texts.ids(), bits[piece])
            self._idle_texts.append(texts)
            return damaged

        # A stat takes some 16 bytes.
        damaged = sum(in_parallel(decode_part, range(0, source.size, _PER_PASS), 16 * source.size))
        self._note_damage(source, damaged)

    def _take_texts(self) -> InternedTexts:
        try:
            return self._idle_texts.pop()
        except IndexError:
            return InternedTexts(self._strings)

    def used_names(self, source: NDArray[np.int64], field: int) -> frozenset[str]:
        """The names of all stats in field `field` of the messages at `source` [n], -1 for none."""
        used = np.zeros(len(self.names), np.uint8)
        begins, targets = in_file_order(source)
        messages = StatMessages(begins, targets, field)
        progress = self._buffer.messages()
        damaged = 0
        for window in self._buffer.around(progress, begins):
            damaged += mark_stats(window, progress, messages, self._dictionary.lookup, used)
        self._note_damage(source, damaged)
        return frozenset(self.names[row] for row in np.flatnonzero(used).tolist())

    def rows(self, source: NDArray[np.int64], field: int) -> StatRows:
        """Every stat in field `field` of the messages at `source` [n], -1 for none."""
        columns, damaged = read_rows(self._buffer, self._dictionary, source, field)
        self._note_damage(source, damaged)
        return StatRows(self._name_ids, *columns)

    def _note_damage(self, source: NDArray[np.int64], damaged: int) -> None:
        if damaged:
            self._damage.note(
                "stats_damaged",
                f"{damaged} damaged stats left out (after byte {int(source[source >= 0].min())})",
            )

    def text_ids(self, kind: NDArray[np.uint8], bits: NDArray[np.int64]) -> NDArray[np.int32]:
        """Ids [n] into the space's strings of text values and references, -1 for other kinds.

        The bits of texts that are already known are `~id`, which is negative, unlike an offset.
        """
        out = np.empty(kind.size, np.int32)
        name_ids = self._name_ids if (kind == REFERENCE).any() else _NO_IDS
        if find_texts(self._dictionary.lookup, name_ids, kind, bits, out):
            is_new = (kind == TEXT) & (bits >= 0)
            out[is_new] = intern_texts(self._buffer, bits[is_new], self._strings)
        return out

    def bytes_at(self, bits: int) -> memoryview:
        """The content of the text or bytes value whose length varint lies at offset `bits`."""
        return self._buffer.view(*self._buffer.body(bits)).data

    def values(self, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> list[tuple[str, Value]]:
        """(name, value) of the XStat messages [begin, end) that hold a value, in file order."""
        values: list[tuple[str, Value]] = []
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            key, kind, bits = map(int, decode_stat(self._buffer.view(begin, end), 0, end - begin))
            if kind == STAT_DAMAGED:
                self._damage.note("stats_damaged", f"the stat at byte {begin} is damaged")
                continue
            if kind in (TEXT, BYTES):
                bits += begin
            if kind != ABSENT:
                values.append((self._name(key), self._value(kind, bits)))
        return values

    def _name(self, key: int) -> str:
        row = row_of(self._dictionary.lookup, key)
        return self.names[row] if row >= 0 else ""

    def _value(self, kind: int, bits: int) -> Value:
        if kind == DOUBLE:
            return float(np.int64(bits).view(np.float64))
        if kind == UINT64:
            return bits & (2**64 - 1)
        if kind == BYTES:
            return bytes(self.bytes_at(bits))
        if kind == TEXT:
            return str(self.bytes_at(bits), "utf-8", "replace")
        if kind == REFERENCE:
            return self._name(bits)
        return bits
