"""Modes that check what runs: against the interpreter, for NaN, under sanitizers."""
