"""What could mark steps, in traces drawn after real ones."""

from helpers.drawn.drawn_groups import threads_of
from traces import drawn_space

from tbprof.analysis.host.driving_thread import find_driving_line, is_ahead, window_ps
from tbprof.analysis.host.host_events import HostThreads
from tbprof.analysis.steps.sources.step_candidates import Candidates, find_candidates

US = 1_000_000


def hosts_of(drawing: str, **more) -> list[HostThreads]:
    return threads_of(drawn_space({"/host:CPU": drawing}, **more))


def candidates(drawing: str, **more) -> Candidates:
    return find_candidates(hosts_of(drawing, **more))


KERAS = """
    python/1         |aaaaaa.aaaaaa.aaaaaa.aaaaaa
                     |.bbbb...bbbb...bbbb...bbbb.
                     |.cccc...cccc...cccc...cccc.
                     |..ee....e.ee...ee.....e..e.
    tf_data_iter/2   |pppppppppppppp.pp.pp.p.p.p.
"""
NAMES = {
    "a": "Profiled batch", "b": "multi_step_on_iterator", "c": "TFE_Py_ExecuteCancelable",
    "e": "EagerExecute", "p": "PrefetchProduce",
}  # fmt: skip
STATS = {"a": {"step_num": 4}, "b": {"tf_function_call": "concrete"}}


def test_marks_come_before_functions_before_what_the_runtime_does():
    found = candidates(KERAS, names=NAMES, stats=STATS)
    assert found.name == [
        "Profiled batch", "multi_step_on_iterator", "TFE_Py_ExecuteCancelable", "EagerExecute",
    ]  # fmt: skip
    assert found.line == ["python/1"] * 4
    assert found.count.tolist() == [4, 4, 4, 6]
    assert (found.median_ps // US).tolist() == [6, 4, 4, 1]
    assert found.coverage.tolist() == [24 / 27, 16 / 27, 16 / 27, 9 / 27]


def test_the_larger_of_two_programs_comes_first():
    names = {"t": "PjitFunction(train_step)", "m": "PjitFunction(metric)"}
    found = candidates("python |tttm..tttm..tttm..", names=names)
    assert found.name == ["PjitFunction(train_step)", "PjitFunction(metric)"]


def test_a_program_recorded_within_itself_counts_once():
    """JAX records each call twice."""
    drawing = "python |tttt..tttt..tttt\n       |.tt....tt....tt."
    found = candidates(drawing, names={"t": "PjitFunction(f)"})
    assert found.count.tolist() == [3]


def test_what_is_regular_comes_before_what_is_not():
    found = candidates("python |ab.b.ab...a....a..b.ab")
    assert found.name == ["a", "b"]


def test_a_function_of_the_program_before_built_in_and_library_ones():
    names = {
        "t": "$train.py:30 train_step",
        "l": "$contextlib.py:132 __enter__",
        "i": "$time sleep",
    }
    found = candidates("python |tttlii.tttlii.tttlii", names=names)
    assert found.name == ["$train.py:30 train_step", "$contextlib.py:132 __enter__"]


def test_waits_work_ahead_compilation_and_rare_events_are_no_candidates():
    names = {
        "w": "BlockUntilReady", "p": "PrefetchProduce", "x": "PjRtCpuClient::Compile",
        "f": "MemoryAllocation",
    }  # fmt: skip
    assert candidates("t |wpxfwpxfwpxfwpxf.rr", names=names).name == []


def test_single_ops_are_the_last_candidates():
    names = {"m": "dense/MatMul:MatMul", "r": "dense/Relu:Relu", "p": "ParseArguments"}
    found = candidates("python |mmmmrp.mmmmrp.mmmmrp", names=names)
    assert found.name == ["ParseArguments", "dense/MatMul:MatMul", "dense/Relu:Relu"]


def test_events_that_overlap_each_other_delimit_nothing():
    assert candidates("t |aa.aaa.aa\n  |....aaa..").name == []


def test_another_thread_counts_less():
    drawing = "python |tt.tt.tt.tt\nworker |uuuuuuuuuuu\n       |vv.vv.vv.vv"
    found = candidates(drawing, names={"t": "$train.py:1 step"})
    assert found.name[0] == "$train.py:1 step"


def test_an_empty_trace_has_no_candidates():
    assert candidates("t |.").name == []
    assert find_candidates([]).name == []


def driving(drawing: str, **more) -> int:
    threads = hosts_of(drawing, **more)[0]
    return find_driving_line(threads)


def test_the_program_runs_where_it_calls_its_framework():
    names = {"t": "PjitFunction(f)"}
    assert driving("pool |aaaaaaa\npython |t..t..t\nother |t", names=names) == 1


def test_else_where_most_time_passes_but_for_work_ahead():
    assert driving("a |xx\nb |yyyy\nc |z") == 1
    assert driving("a |xx\ntf_data_private_threadpool/3 |yyyy\nc |z") == 0
    assert driving("a |.") == -1


def test_threads_that_work_ahead_and_the_window():
    threads = hosts_of("""
        tf_data_iterator_resource/1 |.aaa
        tf_data_iterator_get_next/2 |aaa
        python |..aaaa
    """)[0]
    assert is_ahead(threads.events).tolist() == [True, False, False]
    assert window_ps(threads) == 6 * US
    assert window_ps(hosts_of("t |.")[0]) == 0
