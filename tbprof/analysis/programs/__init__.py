"""The instructions of compiled programs as they ran: how often, how long, and what they cost.

It rests on `hlo`, `costs`, `gpu`, `tpu` and `host`, and names their devices' work by its program.
"""
