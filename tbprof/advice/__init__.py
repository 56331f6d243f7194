"""Findings about a run: their evidence, gains and causes.

A finding is a claim: `finding.py` defines its fields, `gain.py` the time that it may promise. The
rules are in `rules/`; tools show their findings.

Rules that know more run first: late workers before what makes them late, named causes before time
that nothing explains. A rule asks `Evidence` what can be gained: `gain_of` for the phases that it
is about, or `gain_of_work` if it is about how devices compute. The gain of one rule is not
available to later rules, so no time is promised twice.
"""
