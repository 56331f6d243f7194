"""What is said of a run: findings, their evidence, gains and causes.

A finding is a claim: `finding.py` says what it may rest on, `gain.py` what it may promise. The
rules are in `rules/`; tools show what they find.
"""
