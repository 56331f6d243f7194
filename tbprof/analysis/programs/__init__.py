"""The instructions of compiled programs as they ran: how often, how long, and their cost.

Uses `hlo`, `costs`, `gpu`, `tpu` and `host`, and attributes the work of devices to programs.
"""
