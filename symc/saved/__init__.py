"""Functions on disk and in pickles.

values.py      the parameters of ops as JSON, and back
document.py    a graph as JSON, its inputs and shared variables apart
archive.py     a file of JSON and arrays
functions.py   `save`, `load`, and how functions and tensors pickle
frozen.py      functions that each process of a pool makes once
"""
