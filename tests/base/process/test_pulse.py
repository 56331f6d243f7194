"""A pulse beats as long as there is something to do."""

import threading

from helpers.patience import until

from tbprof.base.process.pulse import Pulse


def threads() -> int:
    return sum(thread.name == "tbprof-pulse" for thread in threading.enumerate())


def test_a_pulse_beats_in_one_thread_until_there_is_nothing_to_do():
    left = [3]

    def beat() -> bool:
        left[0] -= 1
        return left[0] > 0

    before = threads()
    pulse = Pulse(beat, 0.0)
    for _ in range(2):
        left[0] = 3
        pulse.go_on()
        pulse.go_on()
        assert threads() <= before + 1
        until(lambda: threads() == before)
        assert left == [0]
