"""A target in two files: `target.py` is all of it, `test_toy.py` uses it."""
