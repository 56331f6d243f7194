"""Requests of any form: longer runs are those of `make fuzz`, see docs/security.md."""

import pytest


@pytest.mark.slow
def test_requests_of_any_form_are_answered_as_described():
    from serving import http_fuzz  # imports Schemathesis, which one process of the tests needs

    counts = http_fuzz.run(examples=8, seed=1)
    assert counts.total() > 150
    assert counts[200] > 40
