"""Calls and annotations of programs, in drawn traces. One column is 1 µs."""

from traces import drawn_space

from tbprof.analysis.hlo.hlo import Programs
from tbprof.analysis.host.host_calls import HostCalls, find_host_calls, merge_host_calls

HOST = "/host:CPU"


def calls_of(drawing: str, **more) -> HostCalls:
    space = drawn_space({HOST: drawing}, **more)
    return find_host_calls(space, Programs(space))


def table(calls: HostCalls) -> list[tuple[str, str, int, int, int]]:
    """(name, kind, occurrences, total µs, self µs)."""
    columns = calls.occurrences, calls.total_ps // 1_000_000, calls.self_ps // 1_000_000
    return list(zip(calls.name, calls.kind, *(column.tolist() for column in columns), strict=True))


def test_annotations_functions_and_compiled_functions():
    calls = calls_of(
        """
        python |ssssssssssssssssss.sssss
               |.aaa.PPPP.ffffff
               |.....pp....e
        """,
        names={"s": "train", "a": "load batch", "P": "PjitFunction(step)", "f": "evaluate",
               "p": "PjitFunction(step)", "e": "EagerExecute"},
        stats={"s": {"_r": 1, "step_num": 1}, "f": {"tf_function_call": "notTraced-nonXla"}},
    )  # fmt: skip
    assert table(calls) == [
        ("train", "Annotation", 2, 23, 10),
        ("evaluate", "tf.function", 1, 6, 6),
        ("PjitFunction(step)", "Compiled function", 1, 4, 4),
        ("load batch", "Annotation", 1, 3, 3),
    ]
    both = merge_host_calls([calls, calls])
    assert table(both)[0] == ("train", "Annotation", 4, 46, 20)


def test_what_runtimes_do_is_not_the_programs():
    calls = calls_of(
        """
        python/1 |PPPPPPPP.CCCC.ww
                 |.rrr.....ssss
        python/2 |aaaammdd
        tf_Compute/3 |rrrr
        """,
        names={"P": "PjitFunction(f)", "r": "Rendezvous", "C": "backend_compile", "s": "simplify",
               "w": "block_until_ready", "a": "prepare", "m": "MemCpyAsync",
               "d": "RemoteCallOpDone"},
    )  # fmt: skip
    assert [(name, kind) for name, kind, *_ in table(calls)] == [
        ("PjitFunction(f)", "Compiled function"),
        ("prepare", "Annotation"),
    ]


def test_without_calls_of_a_framework_every_thread_may_be_the_programs():
    assert [row[0] for row in table(calls_of("1 |aaa\n2 |bb"))] == ["a", "b"]
    assert table(calls_of("1 |x", names={"x": "dense/MatMul:MatMul"})) == []
