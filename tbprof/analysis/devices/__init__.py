"""What devices are and can do, and by which clock their events ran.

Knows a device as a whole, of any vendor; what ran on it belongs in `gpu` and `tpu`.
"""
