"""HTTP: the same routes under TensorBoard and on their own. Imports nothing heavy when loaded."""
