"""Loops: how a function is computed. Standard library only; knows nothing about tensors.

Import it as ``symc.codegen``: under any other name its classes would exist twice.
"""

if __name__ != "symc.codegen":
    raise ImportError("import this package as symc.codegen, not as " + __name__)
