"""The recording as a whole: its environment, its time, and what a file holds.

Reads stats of planes and the file's index; only the window may need events.
"""
