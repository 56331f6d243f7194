"""The recording as a whole: its environment, its time, and the contents of its file.

Reads stats of planes and the file's index; only the window may need events.
"""
