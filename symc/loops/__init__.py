"""Loops and branches: `scan`, `while_loop`, `ifelse`, and what derives from them.

body.py     a closed graph over slots: what happens in one step, or in one branch
scan.py     the op: a body repeated, with sequences, states and collected outputs
branch.py   `ifelse`, and the op that computes one of two bodies
outline.py  what only one side of a branch needs moves into it
inside.py   bodies are rewritten, and their conditions become results
"""
