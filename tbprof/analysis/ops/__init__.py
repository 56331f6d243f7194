"""Ops of hosts and devices, and the activity of each device over time.

Brings the events of host, GPU and TPU into one form; knows nothing about steps.
"""
