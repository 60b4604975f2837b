"""Rewriting: the same values from a better graph. Rules are data; `engine.py` applies them."""
