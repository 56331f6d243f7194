"""The process that tbprof runs in: its threads, its memory, its terminal and its folders.

Everything here asks the system or changes how it treats this process.
"""
