"""Dataclasses as plain arrays and back: the form in which everything is stored."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from tbprof.base.caches import LatestCache
from tbprof.base.digests import blake2b
from tbprof.base.records import NamedTuple, as_dict, is_record, values_of

_T = TypeVar("_T")

# What `unpack` raises for arrays that `pack` did not make.
DAMAGE = (KeyError, IndexError, TypeError, ValueError)

# Suffixes of the names of arrays: the texts, the number of characters of each, the text of each
# row where texts repeat, and optionally a digest of the texts.
TEXT, _LENGTH, _ROW, DIGEST = ".text", ".length", ".row", ".digest"
# The fields that are neither arrays nor texts, as JSON.
_META = "meta"
# Hosts of one job have the same names: equal unpacked texts share one list in memory, and so do
# long computed lists. Short ones are found by their bytes.
LONG = 64
_MOST_SHARED, _SHARED_BYTES = 1024, 64 << 20
_shared: LatestCache[bytes, list[str]] = LatestCache(_MOST_SHARED, _SHARED_BYTES)
_SHORT_BYTES = 1 << 12
_short: LatestCache[tuple[bytes, bytes], list[str]] = LatestCache(_MOST_SHARED, 0)
# The latest lists by length, first and last text, in which those of different jobs rarely agree.
_computed: LatestCache[tuple[int, str, str], list[str]] = LatestCache(_MOST_SHARED, _SHARED_BYTES)
# The arrays of a list of texts by suffix.
_Encoded = dict[str, NDArray[Any]]
_NO_TEXTS: _Encoded = {TEXT: np.zeros(0, np.uint8), _LENGTH: np.zeros(0, np.int32)}
# The latest that were encoded, by identity.
_MOST_ENCODED, _ENCODED_BYTES = 64, 16 << 20
_packed_lists: LatestCache[int, tuple[list[str], _Encoded]] = LatestCache(
    _MOST_ENCODED, _ENCODED_BYTES
)


class _PackedField(NamedTuple):
    """A field of a dataclass; `kind` is the record that is nested or a row, else the annotation."""

    name: str
    form: Literal["array", "texts", "rows", "nested", "plain"]
    kind: Any
    is_tuple: bool


def pack(value: Any, prefix: str = "") -> dict[str, NDArray[Any]]:
    """The arrays of a dataclass, named by `prefix` and field.

    Fields hold arrays, lists of texts, dataclasses, lists or tuples of dataclasses of texts,
    integers and truth values, and what JSON holds, with tuples in place of lists.
    """
    arrays: dict[str, NDArray[Any]] = {}
    plain: dict[str, object] = {}
    _pack(value, prefix, arrays, plain)
    meta = json.dumps(plain).encode() if plain else b"{}"
    arrays[prefix + _META] = np.frombuffer(meta, np.uint8)
    return arrays


def unpack(kind: type[_T], arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> _T:
    """The dataclass of type `kind` that `pack` packed. Raises one of `DAMAGE`."""
    # Decoded here, since `loads` tries several encodings of bytes.
    plain = json.loads(arrays[prefix + _META].tobytes().decode())
    unpacked: _T = _unpack(kind, prefix, arrays, plain)
    return unpacked


def share_texts(value: _T) -> _T:
    """An equal dataclass whose long lists of texts are shared with equal dataclasses before it."""
    kind: Any = type(value)
    changes: dict[str, Any] = {}
    for name, form in _fields_with_texts(kind):
        own = getattr(value, name)
        shared = _shared_value(own, form)
        if shared is not own:
            changes[name] = shared
    return kind(**{**as_dict(value), **changes}) if changes else value


def _shared_value(value: Any, form: str) -> Any:
    if form == "texts" and len(value) >= LONG:
        # Comparing takes a tenth of the time of encoding, which would also find unpacked lists.
        key = len(value), value[0], value[-1]
        latest = _computed.get(key)
        if latest == value:
            return latest
        _computed.put(key, value, sum(map(len, value)))
    return share_texts(value) if form == "nested" else value


def is_packed(arrays: Mapping[str, NDArray[Any]], prefix: str = "") -> bool:
    """Whether there are packed arrays with this prefix."""
    return prefix + _META in arrays


@functools.cache
def _fields(kind: type) -> list[_PackedField]:
    known = vars(sys.modules[kind.__module__])
    return [_field(name, text, known) for name, text in kind.__annotations__.items()]


@functools.cache
def _fields_with_texts(kind: type) -> list[tuple[str, str]]:
    return [(name, form) for name, form, _, _ in _fields(kind) if form in ("texts", "nested")]


def _field(name: str, text: str, known: Mapping[str, Any]) -> _PackedField:
    """The field with an annotation in a module of `known` names."""
    outer, _, rest = text.rstrip("]").partition("[")
    inner = rest.partition(",")[0]
    if outer == "NDArray":
        return _PackedField(name, "array", text, is_tuple=False)
    if is_record(known.get(outer)):
        return _PackedField(name, "nested", known[outer], is_tuple=False)
    if outer in ("list", "tuple") and is_record(known.get(inner)):
        return _PackedField(name, "rows", known[inner], is_tuple=outer == "tuple")
    if text == "list[str]":
        return _PackedField(name, "texts", text, is_tuple=False)
    return _PackedField(name, "plain", text, is_tuple=True)


def _pack(
    value: Any, prefix: str, arrays: dict[str, NDArray[Any]], plain: dict[str, object]
) -> None:
    """Adds the arrays of a dataclass to `arrays`, its other fields to `plain`."""
    holder: type = type(value)
    for (name, form, kind, _), field_value in zip(_fields(holder), values_of(value), strict=True):
        if form == "array":
            arrays[prefix + name] = field_value
        elif form == "texts":
            _pack_texts(field_value, prefix + name, arrays)
        elif form == "nested":
            inner: dict[str, object] = {}
            plain[name] = inner
            _pack(field_value, f"{prefix}{name}.", arrays, inner)
        elif form == "rows":
            plain[name] = len(field_value)
            if field_value:
                _pack_rows(kind, field_value, f"{prefix}{name}.", arrays)
        else:
            plain[name] = field_value


def _pack_rows(
    kind: type, rows: Sequence[Any], prefix: str, arrays: dict[str, NDArray[Any]]
) -> None:
    for name, _, of, _ in _fields(kind):
        cells = [getattr(row, name) for row in rows]
        if of == "str":
            _pack_texts(cells, prefix + name, arrays)
        else:
            arrays[prefix + name] = np.array(cells, np.int64)


def _pack_texts(texts: list[str], name: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Adds texts as one array of UTF-8, and the number of characters of each.

    Long lists whose texts repeat, such as those of a thousand kernels of ten names, hold each once.
    """
    for end, array in (_encoded(texts) if texts else _NO_TEXTS).items():
        arrays[name + end] = array


def _encoded(texts: list[str]) -> _Encoded:
    """What `_encode` returns; the same arrays for a long list that hosts share."""
    if len(texts) < LONG:
        return _encode(texts)
    known = _packed_lists.get(id(texts))
    if known is None or known[0] is not texts:
        known = texts, _encode_once(texts)
        _packed_lists.put(id(texts), known, sum(array.nbytes for array in known[1].values()))
    return known[1]


def _encode_once(texts: list[str]) -> _Encoded:
    distinct = dict.fromkeys(texts)
    if 2 * len(distinct) > len(texts):
        return _encode(texts)
    number = dict(zip(distinct, range(len(distinct)), strict=True))
    rows = np.fromiter(map(number.__getitem__, texts), np.uint32, len(texts))
    return {**_encode([*distinct]), _ROW: rows}


def _encode(texts: list[str]) -> _Encoded:
    content = "".join(texts).encode("utf-8", "surrogatepass")
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    return {TEXT: np.frombuffer(content, np.uint8), _LENGTH: lengths}


def _share(arrays: Sequence[NDArray[Any]], make: Callable[[], list[str]]) -> list[str]:
    """The list of texts with this encoding, from `make` if there is none yet."""
    digest = blake2b(b"".join(map(np.ndarray.tobytes, arrays)), digest_size=16)
    size = sum(array.nbytes for array in arrays)
    return _shared.get_or_compute(digest.digest(), make, lambda _: size)


def _unpack(
    kind: type, prefix: str, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any]
) -> Any:
    values: list[object] = []
    for name, form, of, is_tuple in _fields(kind):
        if form == "array":
            values.append(arrays[prefix + name])
        elif form == "texts":
            values.append(_texts(arrays, prefix + name))
        elif form == "nested":
            values.append(_unpack(of, f"{prefix}{name}.", arrays, plain[name]))
        elif form == "rows":
            rows = _rows(of, f"{prefix}{name}.", arrays) if plain[name] else []
            values.append(tuple(rows) if is_tuple else rows)
        else:
            value = plain[name]
            values.append(tuple(value) if isinstance(value, list) else value)
    return kind(*values)


def _rows(kind: type, prefix: str, arrays: Mapping[str, NDArray[Any]]) -> list[Any]:
    columns: list[list[Any]] = []
    for name, _, of, _ in _fields(kind):
        if of == "str":
            columns.append(_texts(arrays, prefix + name))
        else:
            cells = arrays[prefix + name].tolist()
            columns.append([bool(cell) for cell in cells] if of == "bool" else cells)
    return [kind(*row) for row in zip(*columns, strict=True)]


def _texts(arrays: Mapping[str, NDArray[Any]], name: str) -> list[str]:
    content, lengths = arrays[name + TEXT], arrays[name + _LENGTH]
    rows = arrays.get(name + _ROW)
    if not lengths.size and not content.size:
        return []
    if rows is not None:
        distinct = _cut(content, lengths, name)
        return _share((lengths, content, rows), lambda: [distinct[row] for row in rows.tolist()])
    if lengths.size < LONG:
        if content.nbytes > _SHORT_BYTES:
            return _cut(content, lengths, name)
        key = content.tobytes(), lengths.tobytes()
        return _short.get_or_compute(key, lambda: _cut(content, lengths, name))
    known = arrays.get(name + TEXT + DIGEST, content)
    return _share((lengths, known), lambda: _cut(content, lengths, name))


def _cut(content: NDArray[Any], lengths: NDArray[Any], name: str) -> list[str]:
    text = content.tobytes().decode("utf-8", "surrogatepass")
    cuts = [0, *accumulate(lengths.tolist())]
    if cuts[-1] != len(text) or min(cuts, default=0) < 0:
        raise ValueError(f"the lengths of the texts {name!r} do not fit")
    return [text[begin:end] for begin, end in pairwise(cuts)]
