"""The devices of any vendor: their properties, their peaks and their clocks.

This is about a device as a whole; the events on it belong in `gpu` and `tpu`.

TPU times follow the device's own clock (`device_clock`). Recorders place ops on the host's clock
program by program, with errors of up to 0.2 s. The device's clock is exact, but has another origin
and drifts. It is shifted as a whole, along the line that fits the best third of the shifts, since
more than half of them may be wrong. If ops lack the clock's stats, if times are impossible, or if
the clock jumps, the times in the file are used.
"""
