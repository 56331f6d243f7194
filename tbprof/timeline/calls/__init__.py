"""Call trees: what nested events add up to along the paths that lead to them, or back from them.

Input: columns of a timeline. Output: what `call_tree` defines.
"""
