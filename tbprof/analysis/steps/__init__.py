"""The steps of one host: what marks them, when they ran, and what their time was spent on.

`step_finding` runs the stages. Uses groups of events, intervals of devices and host threads; what
compares the steps of several hosts belongs in `job`.
"""
