"""What goes over the wire: messages, channels, and calls whose answers are traces.

May import `requests`.
"""
