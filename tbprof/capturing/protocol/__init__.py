"""What goes over the wire: messages, channels, and calls whose answers are traces.

`requests` may come in.
"""
