"""The verifier: the rules that a program of the IR keeps, checked before it is emitted."""
