"""Ops that a program runs one by one."""

from traces import Ref, drawn_space

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.single_ops import FEWEST_CALLS, SingleOps, find_single_ops

HOST = "/host:CPU"
US = 10**6
NAMES = {"a": "EagerExecute", "b": "EagerExecute", "f": "EagerExecute", "i": "EagerExecute",
         "p": "PjitFunction(add)", "q": "PjitFunction(multiply)", "h": "DevicePut",
         "e": "$train.py:7 environment", "l": "$pjit.py:9 cache_miss"}  # fmt: skip
STATS = {
    "a": {"is_func": 0, "eager_op": Ref("Mul")},
    "b": {"is_func": 0, "eager_op": Ref("AddV2")},
    "f": {"is_func": 1, "eager_op": Ref("__inference_step_1")},
    "i": {"is_func": 0, "eager_op": Ref("IteratorGetNext")},
}


def single_ops(drawing: str) -> SingleOps:
    space = drawn_space({HOST: drawing}, names=NAMES, stats=STATS)
    return find_single_ops(space, Programs(space))


def test_calls_of_one_op_that_follow_each_other_are_a_run():
    """The function before them, and the fetch of a batch behind, are none of them."""
    run = single_ops("python |ffff." + "a.bb." * 8 + "a..iiii.i.i")
    assert run.start_ps.tolist() == [5 * US]
    assert run.end_ps.tolist() == [46 * US]
    assert run.calls.tolist() == [17]
    assert run.called_ps.tolist() == [25 * US]
    assert dict(zip(run.name, run.name_calls.tolist(), strict=True)) == {"Mul": 9, "AddV2": 8}
    assert run.name == ["Mul", "AddV2"]


def test_few_calls_are_no_run():
    assert single_ops("python |" + "a." * (FEWEST_CALLS - 1)).calls.size == 0
    assert single_ops("python |" + "a." * FEWEST_CALLS).calls.tolist() == [FEWEST_CALLS]


def test_a_long_pause_ends_a_run():
    pause = "." * 4000
    run = single_ops("python |" + "a." * 20 + pause + "b." * 16)
    assert run.calls.tolist() == [20, 16]
    assert run.start_ps.tolist() == [0, 4040 * US]


def test_a_run_that_is_held_up_stays_whole():
    """Whoever had the processor meanwhile: of 40 calls in two runs each has 20 on average."""
    pause = "." * 5000
    run = single_ops("python |" + "a." * 33 + pause + "b." * 7)
    assert run.calls.tolist() == [33, 7]
    assert run.called_ps.tolist() == [33 * US, 7 * US]
    # A few repeated calls are not a run, and neither is what lies far away from one.
    assert single_ops("python |" + ("a." * 15 + pause) * 4).calls.size == 0
    assert single_ops("python |" + "a." * 40 + "." * 100_000 + "b." * 7).calls.tolist() == [40]


def test_a_function_between_two_calls_is_no_part_of_the_run():
    run = single_ops("python |" + "a." * 10 + "fff.iii." + "b." * 6)
    assert run.calls.tolist() == [10, 6]
    assert run.called_ps.tolist() == [10 * US, 6 * US]
    assert run.end_ps.tolist() == [19 * US, 39 * US]
    large = "q" * 1000
    run = single_ops("python |" + "p." * 10 + f"{large}." + "p." * 6)
    assert run.calls.tolist() == [10, 6]


def test_a_function_of_the_program_between_two_calls_is_no_part_of_the_run():
    """If it takes most of that time, and is not a library that dispatches the calls."""
    run = single_ops("python |" + "p." * 10 + ".eeee." + "p." * 6)
    assert run.calls.tolist() == [10, 6]
    assert run.end_ps.tolist() == [19 * US, 37 * US]
    for between in ("..ee..", ".lll."):
        assert single_ops("python |" + "p." * 10 + between + "p." * 6).calls.tolist() == [16]
    around = "python |" + "e" * 21 + "." * 12 + "\n|" + "p." * 10 + "....." + "p." * 6
    assert single_ops(around).calls.tolist() == [16]


def test_threads_have_runs_of_their_own():
    run = single_ops(f"""
        one |{"a." * 16}
        two |.{"b." * 16}
    """)
    assert run.calls.tolist() == [16, 16]
    assert run.start_ps.tolist() == [0, US]


def test_small_programs_of_jax_are_ops_and_large_ones_are_not():
    """Each call leaves two events, one in the other."""
    small = single_ops(f"""
        python |{"pp." * 16}
               |{"pp." * 16}
    """)
    assert (small.calls.tolist(), small.name) == ([16], ["add"])
    assert small.end_ps.tolist() == [47 * US]
    assert single_ops("python |" + ("q" * 1000 + ".") * 16).calls.size == 0


def test_what_is_called_while_a_function_is_traced_is_not_dispatched():
    """Python frames are between the two calls."""
    traced = single_ops(f"""
        python |{"q" * 60}
               |{"l" * 60}
               |{"pp." * 20}
    """)
    assert traced.calls.size == 0


def test_nothing_where_nothing_is_eager():
    assert single_ops("python |ffff.ffff").calls.size == 0
    assert single_ops("").calls.size == 0


def test_data_that_calls_send_is_a_part_of_the_run():
    """What is sent beside the calls, or in those of a larger program, is not."""
    run = single_ops(f"""
        python |{"ppp." * 16}hh.{"q" * 1000}
               |{".h.." * 16}...hhh
    """)
    assert run.calls.tolist() == [16]
    assert run.sent_start_ps.tolist() == [(1 + 4 * call) * US for call in range(16)]
    assert (run.sent_end_ps - run.sent_start_ps).tolist() == [US] * 16
