"""Regular expressions in linear time: Python's answers for ASCII, and no answer too late."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tbprof.base.errors import BadRequest
from tbprof.timeline.search.patterns import Pattern

NAMES = [
    "", "a", "MatMul", "gradient_tape/model/dense/MatMul_1", "Iterator::Root::Prefetch",
    "void cutlass::Kernel<half, 128>(Params)", "$file.py:12 __call__", "train 7", "fusion.12",
    "größe", "ПРИВЕТ", "k", "\N{KELVIN SIGN}", "a\nb", "tf_Compute/0", "[x]", "\ud800",
]  # fmt: skip

PIECES = st.sampled_from([
    "a", "b", "ab", ".", "[ab]", "[^a]", "[a-c]", r"\d", r"\w", r"\s", r"\W", r"\b", r"\B", "^",
    r"\A", "(?:a|b)", "(a|bc|)", "x", "_", "1", "(?:a*b)", "(?i:A)", "[^\\W_]",
])  # fmt: skip
REPEATS = st.sampled_from(["", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "*?", "+?"])


def is_anchor(piece: str) -> bool:
    return piece in ("^", r"\A", r"\b", r"\B")


@st.composite
def patterns(draw):
    parts = []
    for _ in range(draw(st.integers(1, 5))):
        piece = draw(PIECES)
        parts.append(piece if is_anchor(piece) else piece + draw(REPEATS))
        if draw(st.integers(0, 9)) == 0:
            parts.append("|")
    whole = "".join(parts)
    return f"(?:{whole}){draw(REPEATS)}" if draw(st.booleans()) else whole


@settings(max_examples=400, deadline=None)
@given(patterns(), st.lists(st.text("abcx_1 -AB", max_size=8), max_size=6), st.booleans())
def test_patterns_find_what_pythons_engine_finds(pattern, texts, ignores_case):
    texts = [text for text in texts if text or r"\B" not in pattern]  # versions differ on "" there
    wanted = re.compile(pattern, re.IGNORECASE if ignores_case else 0)
    found = Pattern(pattern, ignores_case=ignores_case).matches(texts)
    assert found.tolist() == [wanted.search(text) is not None for text in texts]


@pytest.mark.parametrize(
    "pattern",
    ["MatMul", "^a$", "matmul", r"_\d+$", r"half, \d{3}", "(?i)MATMUL", "Root::(Prefetch|Map)$",
     "ö", r"\(Params\)", r"\[x\]", "k", "(?m)^b$", "(?s)a.b", "a.b", "^$", "", "привет", "\ud800"],
)  # fmt: skip
@pytest.mark.parametrize("ignores_case", [False, True])
def test_patterns_on_names_of_traces(pattern, ignores_case):
    wanted = re.compile(pattern, re.IGNORECASE if ignores_case else 0)
    found = Pattern(pattern, ignores_case=ignores_case).matches(NAMES)
    assert found.tolist() == [wanted.search(name) is not None for name in NAMES]


def test_a_whole_match_begins_and_ends_where_the_text_does():
    found = Pattern("a|ab", is_whole=True).matches(["a", "ab", "abc", "ba"])
    assert found.tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    "pattern",
    ["(", "[", "*a", "a{2,1}", "(?P<", "\\", "(?z)a", r"(?P<a>)\1(",
     r"(a)\1", "a(?=b)", "(?<!a)b", "(a)?(?(1)b|c)", "a++"],
)  # fmt: skip
def test_what_is_not_supported_is_refused_with_the_reason(pattern):
    with pytest.raises(BadRequest, match=r"is not a supported regular expression: [a-z]"):
        Pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+$", "(a|aa)+$", "(.*a){25}$", "(x+x+)+y", "(?:a?){500}a{500}$", "(.*)*b", "((a*)*)*c",
     "(?:.*,){30}P"],
)  # fmt: skip
def test_patterns_that_would_take_years_are_answered(pattern):
    texts = ["a" * 4000 + "!", "x" * 4000, ",1" * 2000]
    began = time.thread_time()
    assert Pattern(pattern).matches(texts).tolist() == [False, False, False]
    assert time.thread_time() - began < 20


@pytest.mark.parametrize(
    "pattern",
    [
        "(((a{100}){100}){100}){100}",
        "((a{1,999}){1,999}){1,999}",
        "(?:a{0,2000}){0,2000}",
        r"\pL{300}",
        "a" * 5000,
    ],
)
def test_patterns_that_would_take_all_memory_are_refused(pattern):
    with pytest.raises(BadRequest, match=r"too large|invalid repetition size"):
        Pattern(pattern)


def test_searches_that_take_too_long_are_given_up(monkeypatch):
    monkeypatch.setattr("tbprof.timeline.search.patterns._MOST_SECONDS", -1.0)
    with pytest.raises(BadRequest, match="takes too long"):
        Pattern("a").matches(["a"])
