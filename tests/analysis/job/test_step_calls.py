"""What the driving thread called in each step. One column is 1 µs."""

from hypothesis import given, settings
from hypothesis import strategies as st
from traces import drawn_space

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.job.step_calls import StepCalls, find_step_calls
from tbprof.analysis.steps.step_finding import find_step_layers

US = 1_000_000
NAMES = {
    "r": "$train.py:3 main", "f": "$train.py:7 forward", "v": "$checkpoint.py:9 save",
    "w": "$threading.py:629 wait", "p": "PjitFunction(step)", "m": "a/MatMul:MatMul",
    "n": "evaluation", "s": "train", "t": "train", "u": "train",
}  # fmt: skip
STATS = {letter: {"_r": 1, "step_num": number} for number, letter in enumerate("stu", 7)}


def calls(drawing: str) -> StepCalls:
    space = drawn_space({"/host:CPU": drawing}, names=NAMES, stats=STATS)
    return find_step_calls(find_step_layers(space, Programs(space)))


def table(drawing: str) -> dict[tuple[int, str], int]:
    """µs by (step, name)."""
    found = calls(drawing)
    return {
        (step, found.names[name]): time // US
        for step, name, time in zip(
            found.step.tolist(), found.name.tolist(), found.time_ps.tolist(), strict=True
        )
    }


def test_functions_and_annotations_count_in_the_step_in_which_they_begin():
    """Not functions around all steps, libraries, ops or the markers."""
    found = table("""
        main |rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr
             |.ssssssss.tttttttttttt.uuuuuuuu.
             |..fff.vv...fff.vvvvvvv..fff.nn..
             |............mm..wwwww..........
    """)
    assert found == {
        (0, NAMES["f"]): 3, (0, NAMES["v"]): 2,
        (1, NAMES["f"]): 3, (1, NAMES["v"]): 7,
        (2, NAMES["f"]): 3, (2, NAMES["n"]): 2,
    }  # fmt: skip


def test_a_function_that_calls_itself_counts_once():
    found = table("""
        main |ssssssssssss
             |.ffffff.ff..
             |..vvvv......
             |...ff.......
    """)
    assert found == {(0, NAMES["f"]): 8, (0, NAMES["v"]): 4}


def test_a_call_that_outlasts_its_step_ends_with_it():
    found = table("""
        main |ssssss.......tttttt
             |....vvvvvvvvvvvv...
    """)
    assert found == {(0, NAMES["v"]): 9}


def test_nothing_without_steps():
    assert calls("main |.ff.vv.").step.size == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("fvn."), st.integers(1, 4)), max_size=12))
def test_against_brute_force(pieces: list[tuple[str, int]]):
    """Calls in a row, in two steps; equal neighbors would be one event."""
    row = ""
    for letter, length in pieces:
        row += letter * length + "."
    row = row.ljust(60, ".")[:60]
    expected: dict[tuple[int, str], int] = {}
    at = 0
    while at < 60:
        end = at
        while end < 60 and row[end] == row[at]:
            end += 1
        if row[at] != ".":
            step = int(at >= 20)
            key = step, NAMES[row[at]]
            expected[key] = expected.get(key, 0) + min(end, 20 if step == 0 else 60) - at
        at = end
    assert table(f"main |{'s' * 20}{'t' * 40}\n|{row}") == expected


def test_calls_of_compiled_functions_count_and_what_they_run_inside_once():
    """JAX leaves two events for a call, one in the other."""
    found = table("""
        main |ssssssss
             |.ppp.pp.
             |.ppp.pp.
    """)
    assert found == {(0, NAMES["p"]): 5}
