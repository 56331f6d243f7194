"""The rules that make findings, one module per subject; `findings.py` lists them.

A rule takes an `Evidence` and yields findings. It reads no events. The rooms are named after the
subjects of their rules.
"""
