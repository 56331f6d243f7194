"""The texts of events, which are read with their other stats or by themselves."""

import weakref
from random import Random

import numpy as np
from traces import space_of

from tbprof._pb import message
from tbprof.events.space import Plane
from tbprof.events.strings import Strings
from tbprof.kernels.xplane.equal_texts import number_texts
from tbprof.kernels.xplane.passes import Pass, Window
from tbprof.xplane.interning import InternedTexts


def _plane(texts: list[str]) -> Plane:
    """A plane with one event per text."""
    space = message("tensorflow.profiler.XSpace")()
    plane = space.planes.add(name="/host:CPU")
    plane.stat_metadata[1].name = "tf_op"
    line = plane.lines.add(name="python")
    for at, text in enumerate(texts):
        line.events.add(offset_ps=at).stats.add(metadata_id=1, str_value=text)
    return space_of(space.SerializeToString()).planes[0]


def test_texts_beyond_every_table_are_read():
    long = "x" * 70_000
    texts = ["", long, "a", *(f"op {index}" for index in range(9000)), "a", long + "y", "", long]
    plane = _plane(texts)
    source = plane.events().source
    together = plane.event_stats(source, ["tf_op"], ["tf_op"])["tf_op"]
    assert plane.strings.take(together.texts().tolist()) == texts
    alone = plane.event_stats(source, ["tf_op"])["tf_op"]
    assert np.array_equal(alone.texts(), together.texts())


def test_texts_that_come_again_are_told_apart():
    random = Random(1)
    known = ["".join(random.choices("ab/_", k=random.randrange(40))) for _ in range(5000)]
    texts = [random.choice(known) for _ in range(20_000)]
    plane = _plane(texts)
    source = plane.events().source
    # Parts of a plane's events are read with what was known of those before.
    for rows in (slice(0, 9000), slice(9000, None), slice(None)):
        column = plane.event_stats(source[rows], ["tf_op"], ["tf_op"])["tf_op"]
        assert plane.strings.take(column.texts().tolist()) == texts[rows]


def test_windows_are_not_kept_when_their_texts_are_read():
    content = np.frombuffer(b"\x03abc\x01d", np.uint8).copy()
    content.flags.writeable = False
    kept = weakref.ref(content)
    numbered, number = InternedTexts(Strings()), np.empty(2, np.int64)
    begins, progress = np.array([0, 4], np.int64), Pass(0, content.size)
    number_texts(Window(content, 0), progress, begins, numbered.known, number)
    numbered.leave_window()
    del content
    assert number.tolist() == [0, 1]
    assert kept() is None
