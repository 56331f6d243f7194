"""Every kernel as the Python that it is written in: a slow twin, of integers that never overflow.

`checked_kernels` makes each call of a compiled kernel do the same by its source, interpreted, on
copies of its arrays, and compares what both return and write. An index that is out of bounds, or
one below 0 where the compiled code does not count from the end, raises.
"""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

import tbprof.kernels
from tbprof.kernels import codes

from . import inlined_twins

FOLDER = Path(tbprof.kernels.__file__).parent
# After those that they take functions or classes of.
_TEXTS = "export.json_bytes"
_FIRST = [
    "xplane.passes",
    "xplane.id_lookup",
    "xplane.equal_texts",
    "programs.program_columns",
    "xplane.event_scan",
    _TEXTS,
    "export.stat_json",
    "timeline.level_merging",
    "timeline.row_heaps",
    "timeline.track_rows",
]
NAMES = _FIRST + sorted(
    {f"{path.parent.name}.{path.stem}" for path in FOLDER.glob("*/*.py") if path.stem[0] != "_"}
    - set(_FIRST)
)


class View:
    """An array as Cython's typed views are: items are plain numbers, rows and slices are views."""

    def __init__(self, array: np.ndarray, wraps: bool) -> None:
        self.array = array
        self.wraps = wraps
        self.shape = array.shape
        flat: Any = array
        self._flat = memoryview(flat) if array.ndim == 1 and array.size else None

    def __getitem__(self, at: Any) -> Any:
        if at.__class__ is int and at >= 0 and self._flat is not None:  # nearly all
            return self._flat[at]
        if isinstance(at, slice):
            return View(self.array[at], self.wraps)
        self._check(at)
        if self._flat is not None:
            return self._flat[at]
        if isinstance(at, tuple):
            return self.array[at].item()
        return View(self.array[at], self.wraps)

    def __setitem__(self, at: Any, value: Any) -> None:
        if at.__class__ is value.__class__ is int and at >= 0 and self._flat is not None:
            with suppress(ValueError):  # not one of the type's own
                self._flat[at] = value
                return
        self._check(at)
        if self.array.dtype.kind in "iu":
            # As C stores: the lowest bits.
            bits = 8 * self.array.itemsize
            value = int(value) & (1 << bits) - 1
            if self.array.dtype.kind == "i" and value >> bits - 1:
                value -= 1 << bits
        self.array[at] = value

    def _check(self, at: Any) -> None:
        if not self.wraps and (min(at) if isinstance(at, tuple) else at) < 0:
            raise IndexError(f"index {at}")


class Both:
    """An object of a compiled class; `given` makes its twin, of copies, for each call."""

    def __init__(self, twin: type, compiled: Any, given: tuple[Any, ...]) -> None:
        vars(self).update(twin=twin, compiled=compiled, given=given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.compiled, name, value)

    def numbers(self, twin: Any) -> dict[str, int]:
        """Those of the attributes that can be read: what a pass has got to."""
        return {
            name: getattr(self.compiled, name)
            for name, value in vars(twin).items()
            if isinstance(value, int) and hasattr(self.compiled, name)
        }


class _Copies:
    """The arguments of one call as its twin takes them; an array that is given twice is one."""

    def __init__(self, texts: tuple[Any, Any], wraps: bool) -> None:
        self._texts = texts
        self._wraps = wraps
        self.views: dict[int, tuple[np.ndarray, View]] = {}
        self.objects: list[tuple[Both, Any]] = []

    def of(self, value: Any) -> Any:
        """The twin of an argument."""
        if isinstance(value, np.ndarray):
            known = self.views.get(id(value))
            if known is None:
                known = value, View(np.array(value, order="C", subok=False), self._wraps)
                self.views[id(value)] = known
            return known[1]
        if isinstance(value, Both):
            twin = value.twin(*map(self.of, value.given))
            vars(twin).update(value.numbers(twin))
            self.objects.append((value, twin))
            return twin
        if isinstance(value, tuple):
            return tuple(map(self.of, value))
        compiled, twin = self._texts
        if isinstance(value, compiled):  # made before kernels were checked
            return twin(self.of(np.asarray(value.text)), self.of(np.asarray(value.first)))
        return value.item() if isinstance(value, np.generic) else value


@contextmanager
def checked_kernels() -> Iterator[Counter[str]]:
    """Checks every call of a kernel; counts the calls of each, by `room.module.function`."""
    calls: Counter[str] = Counter()
    twins = interpreted()
    texts = (import_module(f"tbprof.kernels.{_TEXTS}").Texts, twins[_TEXTS]["Texts"])
    # One call at a time: others may write into the arrays that this one is given.
    lock = threading.RLock()
    replaced: dict[int, Any] = {}

    def checked(label: str, compiled: Any, twin: Callable[..., Any], wraps: bool) -> Any:
        def call(*given: Any) -> Any:
            with lock:
                copies = _Copies(texts, wraps)
                expected = twin(*[copies.of(value) for value in given])
                found = compiled(*[_compiled(value) for value in given])
                assert found == expected, f"{label} returns {found}, its twin {expected}"
                for array, view in copies.views.values():
                    assert array.tobytes() == view.array.tobytes(), label
                for both, made in copies.objects:
                    numbers = both.numbers(made)
                    assert numbers == {name: getattr(made, name) for name in numbers}, label
                calls[label] += 1
            return found

        return call

    def made(compiled: Any, twin: Any) -> Any:
        return lambda *given: Both(twin, compiled(*[_compiled(value) for value in given]), given)

    for name in NAMES:
        module = import_module(f"tbprof.kernels.{name}")
        wraps = "wraparound=False" not in _source(name).read_text()
        for key, value in vars(module).items():
            twin = twins[name].get(key)
            if isinstance(value, type) and isinstance(twin, type):
                replaced[id(value)] = made(value, twin)
            elif callable(value) and callable(twin) and not isinstance(value, type):
                replaced[id(value)] = checked(f"{name}.{key}", value, twin, wraps)
    with _patched(replaced):
        yield calls


def _compiled(value: Any) -> Any:
    return value.compiled if isinstance(value, Both) else value


@contextmanager
def _patched(replaced: Mapping[int, Any]) -> Iterator[None]:
    """With other objects under all names that the package's modules have for some."""
    ours = [module for name, module in sys.modules.items() if name.startswith("tbprof.")]
    patches = [
        patch.object(module, key, replaced[id(value)])
        for module in ours
        for key, value in list(vars(module).items())
        if id(value) in replaced
    ]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in reversed(patches):
            one.stop()


def interpreted() -> dict[str, dict[str, Any]]:
    """What the source of each kernel module defines, by Python alone."""
    stubs: dict[str, ModuleType] = {"cython": _Cython("cython")}
    rooms = {f".tbprof.kernels.{name.partition('.')[0]}" for name in NAMES}
    for name in ("", ".libc", ".libc.string", ".tbprof", ".tbprof.kernels", *rooms):
        stubs[f"cython.cimports{name}"] = ModuleType(name)
    vars(stubs["cython.cimports.libc.string"])["memcpy"] = None
    ours = "cython.cimports.tbprof.kernels"
    stubs |= {f"{ours}.codes": codes, f"{ours}.types": _Types("types")}
    stubs |= {f"{ours}.xplane.wire": inlined_twins, f"{ours}.searches": inlined_twins}
    found: dict[str, dict[str, Any]] = {}
    with patch.dict(sys.modules, stubs):
        for name in NAMES:
            path = _source(name)
            module = ModuleType(name)
            sys.modules[f"{ours}.{name}"] = module
            if name == "timeline.level_merging":
                vars(module)["LevelEntry"] = inlined_twins.LevelEntry
            exec(compile(path.read_bytes(), path, "exec"), vars(module))
            if name == "timeline.row_heaps":
                vars(module).update(sink=inlined_twins.sink, sink_row=inlined_twins.sink_row)
            if name == "timeline.track_rows":
                for inlined in (inlined_twins.open_rows, inlined_twins.pass_event):
                    vars(module)[inlined.__name__] = inlined
            if name == _TEXTS:
                vars(module)["copy_bytes"] = inlined_twins.copy_bytes
            found[name] = vars(module)
    return found


def _source(name: str) -> Path:
    return FOLDER / f"{name.replace('.', '/')}.py"


class _Nothing:
    """Decorates with nothing, and is a block of nothing."""

    def __call__(self, *given: Any, **_: Any) -> Any:
        return given[0] if given and callable(given[0]) else self

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class _Cython(ModuleType):
    """What kernels take of Cython: decorators that do nothing, types that say nothing, casts."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []

    def __getattr__(self, name: str) -> Any:
        return _Nothing()

    @staticmethod
    def cast(_: object, value: Any) -> Any:
        return value

    @staticmethod
    def declare(*_: object, **__: object) -> None: ...


class _Types(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return object
