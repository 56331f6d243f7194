"""Compiled programs as graphs: which instructions take which, and what is near one of them.

It rests on `hlo`, `costs` and `programs`. Nothing here reads events.
"""
