"""Loops and branches: `scan`, `while_loop`, `ifelse`, and what derives from them.

body.py   a closed graph over slots: what happens in one step, or in one branch
scan.py   the op: a body repeated, with sequences, states and collected outputs
branch.py `ifelse`, and the op that computes one of two bodies; outline.py makes these

Making loops, from the user's function to the op:

api.py          `scan`: what users call; folding.py and repeat.py have the shorter forms
sequences.py    what a loop goes along, and how many steps it takes
states.py       what states start from, fitted to what a step computes
trace.py        the user's function called on slots; outcome.py reads what it returned
carried.py      shared variables that a step changes
build.py        a loop of its parts, and the parts of a loop
run.py          its results as users see them; checkpoint.py makes them in segments

What can be done with loops:

reverse.py      gradients: a loop that runs backwards; ends.py finds those of last rows
batching.py     a loop over a batch
conditions.py   what must hold for a loop to run
improve.py      what leaves a loop before it is compiled: hoist.py, postpone.py, contract.py
inside.py       what compiling does to graphs inside loops
"""
