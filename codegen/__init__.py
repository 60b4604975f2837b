"""Code generation: from loops over flat buffers to compiled functions. Knows nothing of tensors.

Standard library only. A program goes from the top to the bottom; begin with `ir.py`.

    ir.py, statements.py, values.py,            the parts of a program: the loop IR
        dtypes.py, math.py, routines.py
    text.py, verify/                            it is printed, and checked
    meaning/                                    it is run in plain Python: the oracle of all targets
    passes/                                     programs to better programs, one file each
    passes/gpu/                                 loops to grids and teams of threads
    cost/                                       how much a program moves and computes
    emit/                                       a program as text of the C family
    runtime/                                    hand-written C and CUDA that such text includes
    targets/                                    languages as tables, compilers, loading, exporting

Import it as ``symc.codegen``: under any other name its classes would exist twice.
"""

if __name__ != "symc.codegen":
    raise ImportError("import this package as symc.codegen, not as " + __name__)
