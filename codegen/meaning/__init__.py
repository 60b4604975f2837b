"""The meaning of the IR in NumPy: the interpreter, the oracle of all targets."""
