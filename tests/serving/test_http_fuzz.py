"""Requests of any form: longer runs are those of `make fuzz`, see docs/security.md."""

import pytest
from serving import http_fuzz


@pytest.mark.slow
def test_requests_of_any_form_are_answered_as_described():
    counts = http_fuzz.run(examples=8, seed=1)
    assert counts.total() > 150
    assert counts[200] > 40
