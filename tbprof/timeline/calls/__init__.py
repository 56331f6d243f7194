"""Call trees: sums of nested events along their paths, from the outermost call or from a name.

Input: columns of a timeline. Output: what `call_tree` defines.
"""
