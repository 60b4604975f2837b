"""Code generation: from loops over flat buffers to compiled functions. Knows nothing of tensors.

Standard library only. A program goes from the top to the bottom; begin with `ir.py`.

    ir.py, dtypes.py, math.py, routines.py      the parts of a program: the loop IR
    text.py, verify.py, interpret.py            it is printed, checked, run in plain Python
    meaning.py, arithmetic.py, special.py,      the meaning of the IR's parts, for the interpreter
        philox.py, closures.py
    passes/                                     programs to better programs, one file each
    passes/gpu/                                 loops to grids and teams of threads
    kernels.py, expressions.py, reductions.py,  loops as text of the C family
        writer.py
    emit.py, emit_device.py, device_*.py        a program as one file, or two for a device
    runtime/                                    hand-written C and CUDA that such files include
    targets/                                    languages as tables, compilers, loading, exporting
    work.py, operations.py, amounts.py          how much a program moves and computes

Import it as ``symc.codegen``: under any other name its classes would exist twice.
"""

if __name__ != "symc.codegen":
    raise ImportError("import this package as symc.codegen, not as " + __name__)
