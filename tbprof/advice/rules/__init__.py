"""The rules that make findings, one subject a module; `findings.py` lists them.

A rule takes an `Evidence` and yields findings. It reads no events. The rooms are named for what
their rules are about.
"""
