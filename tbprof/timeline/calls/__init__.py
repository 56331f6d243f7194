"""Call trees: what nested events add up to along the paths that lead to them, or back from them.

Only columns of a timeline come in. `call_tree` has what goes out.
"""
