"""Protobuf messages as columns over bytes, which needs far fewer objects than parsing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from tbprof.analysis.hlo_messages.message_fields import Blob, DamagedMessage
from tbprof.kernels.programs.message_columns import (
    BodyColumns,
    list_bodies,
    list_numbers,
    read_numbers,
)

# Protobuf's own limit, so positions fit into 32 bits.
_LARGEST = 2**31 - 1


class Messages:
    """Messages [n] of one type, as byte ranges; fields are given by number.

    All methods that read fields raise DamagedMessage.
    """

    def __init__(
        self, content: NDArray[np.uint8], at: NDArray[np.int32], end: NDArray[np.int32]
    ) -> None:
        self._content = content
        self._bytes = content.data
        self.at, self.end = at, end

    @classmethod
    def one(cls, blob: Blob) -> Messages:
        """A single message."""
        if len(blob) > _LARGEST:
            raise DamagedMessage
        begin, end = np.zeros(1, np.int32), np.full(1, len(blob), np.int32)
        return cls(np.frombuffer(blob, np.uint8), begin, end)

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Messages:
        """The messages in texts."""
        ends = np.array([*accumulate(map(len, texts), initial=0)], np.int32)
        return cls(np.frombuffer(b"".join(texts), np.uint8), ends[:-1], ends[1:])

    def __len__(self) -> int:
        return self.at.size

    def numbers(self, *fields: int) -> NDArray[np.int64]:
        """[k, n] the integers in `k` fields, 0 where a message has none."""
        values = np.zeros((len(fields), len(self)), np.int64)
        if read_numbers(self._content, self.at, self.end, np.array(fields, np.int64), values):
            raise DamagedMessage
        return values

    def parts(self, field: int) -> tuple[NDArray[np.int32], Messages]:
        """(owner [m], messages [m]) of a field; `owner` is the row of the enclosing message."""
        owner, at, end = self._bodies(field)
        return owner, Messages(self._content, at, end)

    def contents(self) -> list[bytes]:
        """[n] the bytes of each message."""
        ranges = zip(self.at.tolist(), self.end.tolist(), strict=True)
        return [bytes(self._bytes[at:end]) for at, end in ranges]

    def lists(self, field: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """(owner [m], value [m]) of the integers in a repeated field, by message and in order."""
        count, owner, value = 0, np.zeros(0, np.int32), np.zeros(0, np.int64)
        for _ in range(2):
            owner, value = np.zeros(count, np.int32), np.zeros(count, np.int64)
            count = list_numbers(self._content, self.at, self.end, field, owner, value)
            if count < 0:
                raise DamagedMessage
        return owner, value

    def texts(self, field: int) -> list[bytes]:
        """[n] the text in a field, empty where a message has none."""
        owner, at, end = self._bodies(field)
        ranges = np.zeros((2, len(self)), np.int32)
        ranges[:, owner] = at, end
        return [bytes(self._bytes[at:end]) for at, end in ranges.T.tolist()]

    def and_those(self, others: Messages) -> Messages:
        """These messages, then others in the same bytes."""
        at, end = np.append(self.at, others.at), np.append(self.end, others.end)
        return Messages(self._content, at, end)

    def _bodies(self, field: int) -> NDArray[np.int32]:
        count, columns = 0, np.zeros((3, 0), np.int32)
        # The first pass only counts.
        for _ in range(2):
            columns = np.zeros((3, count), np.int32)
            count = list_bodies(self._content, self.at, self.end, field, BodyColumns(*columns))
            if count < 0:
                raise DamagedMessage
        return columns
