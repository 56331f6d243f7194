"""Whatever classifies host events says the same of every name of a family."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.drawn.computed_parts import compute_parts
from numpy.testing import assert_array_equal
from traces import drawn_space

from tbprof.analysis.host.host_roles import classify_host_names
from tbprof.analysis.vocabulary import name_families as module
from tbprof.analysis.vocabulary.name_families import (
    NameFamilies,
    Vocabulary,
    family_keys,
    name_families,
    remembered,
)
from tbprof.analysis.vocabulary.op_names import parse_op_name
from tbprof.events.space import Plane, Space
from tbprof.xplane.reader import read_space


def test_scopes_and_numbers_make_no_family():
    names = ["replica_3/layer_17/x/mul_1:Mul", "replica_0/mul_2/mul_1:Mul", "replica_0/mul_1:Mul"]
    assert family_keys(names) == ["replica_0//mul_0:Mul"] * 2 + ["replica_0/mul_0:Mul"]


@pytest.mark.parametrize("word", ["a/Infeed/b", "a/b/c Infeed_1", "$a/b/c_1", "a\n/b/c_1", "a12"])
def test_names_that_say_more_are_families_of_their_own(word):
    assert family_keys([word, "a/b_1/c"]) == [word, "a//c"]


def test_a_long_name_is_a_family_of_its_own():
    long = "a/" + "b/" * 127 + "c_1"
    assert family_keys([long[-256:], long]) == ["//c_0", long]


def test_no_names_have_no_keys():
    assert family_keys([]) == []


def test_types_are_told_by_name_and_role():
    vocabulary = Vocabulary()
    families = NameFamilies(vocabulary.add(["a", "b", "a", "b"]), vocabulary)
    assert families.classify(str.upper, object).tolist() == ["A", "B", "A", "B"]
    role = np.array([-7, 3, 3, 3], np.int8)
    found = families.classify_with_roles(lambda name, role: f"{name}{role}", role, object)
    assert found.tolist() == ["a-7", "b3", "a3", "b3"]
    assert families.look_up({"b": 2, "c": 3}).tolist() == [0, 2, 0, 2]


def test_names_of_several_hosts_are_classified_once():
    asked: list[str] = []

    def classify(text: str) -> int:
        asked.append(text)
        return len(text)

    vocabulary = Vocabulary()
    first = NameFamilies(vocabulary.add(["a/b/c", "a/dd/c", "ee"]), vocabulary)
    assert first.of.tolist() == [0, 0, 1]
    assert first.classify(classify, np.int64).tolist() == [5, 5, 2]
    second = NameFamilies(vocabulary.add(["ee", "f", "a/g/c"]), vocabulary)
    assert second.of.tolist() == [1, 2, 0]
    assert second.classify(classify, np.int64).tolist() == [2, 1, 5]
    assert first.classify(classify, np.int64).tolist() == [5, 5, 2]
    assert asked == ["a/b/c", "ee", "f"]


def test_names_and_roles_of_several_hosts_are_classified_once():
    asked: list[tuple[str, int]] = []

    def classify(text: str, role: int) -> int:
        asked.append((text, role))
        return len(text) + role

    vocabulary = Vocabulary()
    first = NameFamilies(vocabulary.add(["a/b/c", "ee"]), vocabulary)
    roles = np.array([-128, 127], np.int8)
    assert first.classify_with_roles(classify, roles, np.int64).tolist() == [-123, 129]
    second = NameFamilies(vocabulary.add(["a/g/c", "a/h/c", "a/i/c", "ee"]), vocabulary)
    roles = np.array([-128, 0, 0, 127], np.int8)
    assert second.classify_with_roles(classify, roles, np.int64).tolist() == [-123, 5, 5, 129]
    assert asked == [("a/b/c", -128), ("ee", 127), ("a/b/c", 0)]


def test_names_that_take_much_memory_have_a_vocabulary_of_their_own(monkeypatch):
    monkeypatch.setattr(module, "_MOST_BYTES", 3 * 256 + 3)  # with "", the name of no type
    monkeypatch.setattr(module, "_shared", Vocabulary())

    def vocabulary(*names: str) -> Vocabulary:
        row = "main |" + "".join(map(chr, range(0x4E00, 0x4E00 + len(names))))
        letters = {chr(0x4E00 + at): name for at, name in enumerate(names)}
        [plane] = drawn_space({"/host:CPU": row}, names=letters).planes
        return name_families(plane).vocabulary

    shared = vocabulary("a", "b")
    assert vocabulary("b") is shared
    assert vocabulary("b" * 300) is not shared
    assert vocabulary("a", "b", "c") is not shared
    assert vocabulary("c") is shared
    assert shared.is_full
    assert vocabulary("a") is not shared


@pytest.mark.parametrize("trace", ["gpu_trace", "tpu_trace", "amd_trace"])
def test_classifications_are_functions_that_stay(trace, request, monkeypatch):
    shared = Vocabulary()
    monkeypatch.setattr(module, "_shared", shared)
    compute_parts(read_space(request.getfixturevalue(trace)))
    known = set(shared._classified)
    assert len(known) >= 10
    compute_parts(read_space(request.getfixturevalue(trace)))
    assert set(shared._classified) == known


HOSTILE = [
    "replica", "Infeed", "TransferToInfeed", "Garbage", "compile", "XLA::", "Iterator::",
    "Prefetch",
    "PrefetchProduce", "ParallelMapConsume", "IteratorGetNext", "MemcpyHtoD", "memcpyh2d", "end: ",
    "::DoCompute", "Build buffer allocations", "EagerLocalExecute: __inference_", "PjitFunction(",
    "ThunkExecutor::Execute", " (wait for completion)", "FunctionRun", "TFE_", "LSRAv", "Pass",
    "::BufferFromHostBuffer", "Executable::Execute", "all-reduce", "send-done.", "infeed", "Save",
    "CollectiveReduce", "grain.", "$a.py:1 ", "cuLaunchKernel", "pure_callback", "PyFunc", "Mul",
    "Synchronize", "::Await", "train", ":", ":", ":", "/", "/", "/", "_1", "_23", "_4", ".", "[0]",
    "\u00e9", " ", "_", "->", "5", "(", ")", "reduce_sum", "tf.function-graph_building",
    "Generator", "ParallelInterleaveV", "TraceContext", "TpuExecuteOp", "ompil",
]  # fmt: skip


def hostile_names(seed: int) -> list[str]:
    """Names of words that classifications know, each with some that only a scope or number sets
    apart."""
    drawn = random.Random(seed)
    found = []
    for _ in range(500):
        words = drawn.choices(HOSTILE, k=drawn.randint(1, 7))
        found.append("".join(words))
        at = drawn.randrange(len(words))
        for _ in range(3):
            words[at] = drawn.choice(["_7", "_88", "/", f"/{drawn.choice(HOSTILE)}/", "/a/b/"])
            found.append("".join(words))
    return sorted(set(found))


def hostile_space(seed: int) -> Space:
    names = {chr(0x4E00 + at): name for at, name in enumerate(hostile_names(seed))}
    row = "main |" + "".join(names)
    stats = {letter: {"hlo_op": "x"} for letter in list(names)[::5]}
    return drawn_space({"/host:CPU": row}, names=names, stats=stats)


def names_of(families: NameFamilies) -> list[str]:
    """A name of the family of each type."""
    return families.vocabulary.take(families.of.tolist())


def category(text: str) -> int:
    return parse_op_name(text).category


@pytest.fixture
def compared(monkeypatch) -> set[str]:
    """Compares every classification with that of all names; which were asked for."""
    known: list[tuple[NameFamilies, list[str]]] = []
    asked: set[str] = set()
    find = module._find
    by_name, by_role = NameFamilies.classify, NameFamilies.classify_with_roles

    def found(plane: Plane) -> NameFamilies:
        families = find(plane)
        texts = [*plane.strings.take(plane.types.name.tolist()), ""]
        known.append((families, texts))
        for has_device in (False, True):
            of_family = classify_host_names(names_of(families), has_device=has_device)
            plain = classify_host_names(texts, has_device=has_device)
            assert_array_equal(of_family, plain)
        categories = by_name(families, category, np.int8)
        assert categories.tolist() == [parse_op_name(text).category for text in texts]
        return families

    def texts_of(families: NameFamilies) -> list[str]:
        return next(texts for one, texts in known if one is families)

    def told(self: NameFamilies, classify: Callable[[str], Any], dtype: Any) -> Any:
        asked.add(getattr(classify, "__module__", None) or repr(classify))
        out = by_name(self, classify, dtype)
        assert_array_equal(out, np.array([classify(text) for text in texts_of(self)], dtype))
        return out

    def told_with(self: NameFamilies, classify: Any, role: Any, dtype: Any) -> Any:
        asked.add(classify.__module__)
        out = by_role(self, classify, role, dtype)
        both = zip(texts_of(self), role.tolist(), strict=True)
        assert_array_equal(out, np.array([classify(text, one) for text, one in both], dtype))
        return out

    monkeypatch.setattr(module, "_find", found)
    monkeypatch.setattr(NameFamilies, "classify", told)
    monkeypatch.setattr(NameFamilies, "classify_with_roles", told_with)
    return asked


@pytest.mark.parametrize("trace", ["gpu_trace", "tpu_trace", "amd_trace"])
def test_recorded_names_are_classified_as_one_by_one(trace, request, compared):
    compute_parts(read_space(request.getfixturevalue(trace)))
    assert len(compared) >= 10


@pytest.mark.parametrize("seed", range(4))
def test_hostile_names_are_classified_as_one_by_one(seed, compared):
    space = hostile_space(seed)
    compute_parts(space)
    assert len(compared) >= 10
    [plane] = space.planes
    families = name_families(plane)
    assert len(set(families.of.tolist())) < families.of.size - 100


def test_names_are_classified_once_unless_they_are_long():
    asked: list[tuple[str, int]] = []

    @remembered
    def classify(text: str, role: int) -> int:
        asked.append((text, role))
        return len(text) + role

    for text in ("a", "b" * 300):
        for role in (1, 2, 1):
            assert classify(text, role) == len(text) + role
    assert asked == [("a", 1), ("a", 2), *(("b" * 300, role) for role in (1, 2, 1))]
