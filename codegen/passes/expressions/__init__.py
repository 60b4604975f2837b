"""Expressions and names: folded, shared, written where they are used; dtypes that C lacks."""
