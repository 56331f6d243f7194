"""What devices are and can do, and by which clock their events ran.

Knows a device as a whole, of any vendor; what ran on it belongs in `gpu` and `tpu`.

TPU times follow the device's own clock (`device_clock`). Recorders place ops on the host's clock
program by program, and are wrong by up to 0.2 s; the device's clock is exact, but starts
elsewhere and drifts. It is shifted as a whole, by the line that the best third of the shifts lie
on, since more than half of them may be wrong. Without the clock's stats on every op, with
impossible times, or where the clock jumps, the times of the file are used.
"""
