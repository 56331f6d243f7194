"""The parts of hosts: in memory, in the result store, or computed from open files."""
