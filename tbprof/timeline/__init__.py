"""A host's trace as rows of events that views are cut from: laid out, coarsened, searched."""
