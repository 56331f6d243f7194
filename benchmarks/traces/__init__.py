"""The traces that are measured: large ones and runs of many hosts, made out of recorded ones."""
