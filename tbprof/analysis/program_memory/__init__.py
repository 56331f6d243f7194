"""What compiled programs keep in memory while they run, according to their compiler.

It rests on `hlo`: it reads where a program's arrays lie, and replays its simulated heap.
"""
