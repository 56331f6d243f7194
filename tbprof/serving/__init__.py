"""HTTP: the same routes in TensorBoard and standalone. Imports nothing heavy when loaded."""
