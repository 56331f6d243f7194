"""What answers at an address, how busy it is, and why it cannot be recorded.

May import `requests` and `protocol`.
"""
