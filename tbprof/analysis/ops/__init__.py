"""Ops of hosts and devices, and what each device of a host did when.

Brings the events of host, GPU and TPU into one form; steps are not known here.
"""
