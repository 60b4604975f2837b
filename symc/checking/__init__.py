"""Modes that check programs as they run: against the interpreter, for NaN, by sanitizers."""
