"""The mistakes that xprof is known to make, each tried on a small trace: what tbprof shows there.

`catalogue` lists them; the modules `of_…` hold one function per mistake, which asserts what is
right and says it. `test_mistakes` writes them to docs/differences.md.
"""
