"""Loops in vector registers: which they are, and how what they read and fold is cut for that."""
