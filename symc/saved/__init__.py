"""Functions on disk and in pickles.

values.py      the parameters of ops as JSON, and back
document.py    a graph as JSON, its inputs and shared variables apart
bodies.py      whether loops and branches of a file are as symc makes them
matrices.py    the same of the arguments of linear algebra
promises.py    and of those of other ops
archive.py     a file of JSON and arrays
functions.py   `save`, `load`, and how functions and tensors pickle
frozen.py      functions that each process of a pool makes once
"""
