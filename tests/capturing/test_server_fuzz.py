"""Servers that answer with damage: longer runs are those of `make fuzz`, see docs/security.md."""

from capturing import server_fuzz


def test_calls_of_damaged_servers_end():
    ends = server_fuzz.run(200, seed=1)
    assert ends.total() == 200
    assert min(ends[end] for end in ("answered", "garbled", "UNAVAILABLE")) > 5
