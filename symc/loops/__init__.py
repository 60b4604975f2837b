"""Loops and branches: `scan`, `while_loop`, `ifelse`, and functions made of these.

body.py   a closed graph over slots: one step of a loop, or one side of a branch
scan.py   the op: a body repeated, with sequences, states and collected outputs
branch.py `ifelse`, and the op that computes one of two bodies; outline.py makes these: paths.py
          says where nodes are needed, gated.py sees to what several branches need, anew.py to
          what decides on a side and is needed there; returned.py: only some steps need it,
          kept.py: and it takes long

Making loops, from the user's function to the op:

api.py          `scan`, the public function; folding.py and repeat.py have the shorter forms
sequences.py    the sequences of a loop, and its number of steps
states.py       initial states, fitted to the results of a step
trace.py        the user's function called on slots; outcome.py reads its results
first_step.py   lengths of results that only steps know
carried.py      shared variables that a step changes
build.py        a loop of its parts, and the parts of a loop; closing.py finds what steps compute
run.py          its results as users see them; checkpoint.py makes them in segments

Operations on loops:

reverse.py      gradients: a loop that runs backwards; ends.py finds those of last rows
batching.py     a loop over a batch
conditions.py   run-time conditions of a loop; entered.py finds those that wait for a first step,
                late_lengths.py lengths that do
comparisons.py  conditions that hold in every step
improve.py      code moved out of a loop before it is compiled: hoist.py, postpone.py, contract.py
inside.py       rewriting of graphs inside loops
"""
