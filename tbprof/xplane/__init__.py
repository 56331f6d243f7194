"""XPlane files as columns: the wire format, read lazily and never trusted."""
