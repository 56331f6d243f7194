"""What answers at an address, how busy it is, and why it cannot be recorded.

`requests` and `protocol` may come in.
"""
