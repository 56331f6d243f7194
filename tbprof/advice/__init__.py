"""What is said of a run: findings, their evidence, gains and causes.

A finding is a claim: `finding.py` says what it may rest on, `gain.py` what it may promise. The
rules are in `rules/`; tools show what they find.

Rules run in the order of what they know: late workers before what makes them late, named causes
before time that nothing explains. A rule asks `Evidence` what can be gained: `gain_of` the phases
that it is about, or `gain_of_work` if it is about how devices compute. What one rule promises is
gone for the rules behind it, so no time is promised twice.
"""
