"""Ops that users write: functions in Python and C, and parts of graphs."""
