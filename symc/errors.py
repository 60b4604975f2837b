"""The errors that symc has names for.

    SymcError (Exception)
    ├── ShapeMismatch (ValueError)        two lengths that must be equal are not
    ├── RankError (TypeError)             a tensor has the wrong number of axes
    ├── DTypeError (TypeError)            a dtype does not fit, or would lose precision
    ├── TooLarge (MemoryError, ValueError) a length needs over 64 bits, an array over all memory
    ├── BadIndex (IndexError)             an index is out of range, or there are too many
    ├── DivisionByZero (ZeroDivisionError) an integer was divided by zero
    ├── LinAlgError (ValueError)          a matrix is singular, or the like; NumPy's is its base
    ├── GradientError (ValueError)        a derivative cannot be taken as asked
    │   └── DisconnectedInput             `wrt` does not influence the cost
    ├── FunctionError (ValueError)        `function()` was given something it cannot compile
    │   ├── MissingInput                  the outputs need an input that was not listed
    │   ├── UnusedInput                   a listed input is not needed
    │   └── BadUpdate                     an update does not fit its shared variable
    ├── LoopError (ValueError, TypeError) the parts of a loop do not fit together
    ├── BadArgument (TypeError)           a compiled function was called with the wrong arguments
    ├── CannotSave (TypeError)            something has no form in a file
    ├── BadFile (ValueError)              a file is damaged, or not one of symc's
    ├── NotFinite (FloatingPointError)    mode="nanguard" met a NaN or an infinity
    ├── AssertionFailed (AssertionError)  a condition of symc.Assert does not hold
    ├── Mismatch (AssertionError)         mode="debug" found two results that differ
    ├── NotBatchable (TypeError)          vmap met an op whose lengths would differ
    ├── DeviceError (RuntimeError)        a device is missing, or failed, or is used wrongly
    ├── ProgramsDiffer (RuntimeError)     processes that compute together have different programs
    └── WrongProcesses (RuntimeError)     a loaded function is of another number of processes

Compiling can also raise `CompileFailed` and `CompilerMissing` from `symc.codegen.errors`.
Each message has the request, the fault, the line where the user wrote it, and the remedy.
"""

from __future__ import annotations

import numpy as np


class SymcError(Exception):
    """The base of the errors that symc has names for.

    Each is also one of Python's errors, so that programs for NumPy catch it. What NumPy refuses
    with a plain `ValueError` or `TypeError`, and is about one value alone, is such a plain error
    here, too: a mode that does not exist, a negative count, a maximum of no elements.

    >>> import symc, symc.tensor as T
    >>> try:
    ...     T.zeros((2, 3)) + T.zeros(2)
    ... except symc.errors.SymcError as error:
    ...     print(type(error).__name__, isinstance(error, ValueError))
    ShapeMismatch True
    """


class ShapeMismatch(SymcError, ValueError):
    """Two lengths that must be equal are not, when the graph is built or when it runs.

    Its message has the lengths, and the lines where the tensors were made.

    >>> import symc.tensor as T
    >>> T.zeros((2, 3)) + T.zeros(2)
    Traceback (most recent call last):
    ...
    symc.errors.ShapeMismatch: add: axis 1 is 3 on the left and 2 on the right...
    """


class RankError(SymcError, TypeError):
    """A tensor has the wrong number of axes for what is asked of it.

    >>> import symc.tensor as T
    >>> T.vector("x", shape=(2, 3))
    Traceback (most recent call last):
    ...
    symc.errors.RankError: vector has 1 axes; shape=(2, 3) has 2
    """


class DTypeError(SymcError, TypeError):
    """A dtype does not fit, or converting to it would lose precision.

    >>> import symc.tensor as T
    >>> T.bitwise_and([1.0], 2)
    Traceback (most recent call last):
    ...
    symc.errors.DTypeError: bitwise_and needs integers or bool, not float64; cast first
    """


class TooLarge(SymcError, MemoryError, ValueError):
    """A length or a number of bytes needs more than 64 bits, or an array more memory than there is.

    NumPy raises `ValueError` for the former and `MemoryError` for the latter; this is both. The
    call has changed nothing.

    >>> import symc, symc.tensor as T
    >>> T.zeros((2**62, 2)).eval()
    Traceback (most recent call last):
    ...
    symc.errors.TooLarge: 64 bits cannot count the bytes of float64 elements in shape (...)
    """


class BadIndex(SymcError, IndexError):
    """An index is out of range, or there are more indexes than axes.

    >>> import symc.tensor as T
    >>> T.constant([1, 2, 3])[7]
    Traceback (most recent call last):
    ...
    symc.errors.BadIndex: index 7 is out of bounds for axis 0 with length 3...
    """


class DivisionByZero(SymcError, ZeroDivisionError):
    """An integer was divided by zero in a compiled function; floats give infinities or NaN.

    >>> import symc.tensor as T
    >>> (T.constant([1, 2]) // T.constant([1, 0])).eval()
    Traceback (most recent call last):
    ...
    symc.errors.DivisionByZero: floordiv: integer division by zero...
    """


class LinAlgError(SymcError, np.linalg.LinAlgError, ValueError):
    """A matrix has no result: it is singular, not positive definite, or iterations failed.

    It is `numpy.linalg.LinAlgError`, too.

    >>> import symc.tensor as T
    >>> T.linalg.inv([[1.0, 2.0], [2.0, 4.0]]).eval()
    Traceback (most recent call last):
    ...
    symc.errors.LinAlgError: inv: the matrix is singular: pivot 2 is 0...
    """


class GradientError(SymcError, ValueError):
    """A derivative cannot be taken as asked: not of one number, say, or not by an integer.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.grad(x * 2, x)
    Traceback (most recent call last):
    ...
    symc.errors.GradientError: grad needs a scalar cost, not ...
    """


class DisconnectedInput(GradientError):
    """The tensor to differentiate with respect to does not influence the cost.

    `symc.grad` takes ``disconnected_inputs="ignore"`` for zeros in its place.

    >>> import symc, symc.tensor as T
    >>> x, y = T.scalars("x", "y")
    >>> symc.grad(x * 2, y)
    Traceback (most recent call last):
    ...
    symc.errors.DisconnectedInput: y does not influence the cost, so it has no gradient...
    """


class LoopError(SymcError, ValueError, TypeError):
    """The parts of a loop do not fit together: states, results, sequences and steps.

    >>> import symc
    >>> symc.scan(lambda x: x + 1, outputs_info=0)
    Traceback (most recent call last):
    ...
    symc.errors.LoopError: scan needs sequences or n_steps, to know how many steps to take
    """


class FunctionError(SymcError, ValueError):
    """`symc.function` was given something that it cannot compile, or not as asked.

    >>> import symc, symc.tensor as T
    >>> x = T.scalar("x")
    >>> symc.function([x], x * 2, givens={x: x + 1})
    Traceback (most recent call last):
    ...
    symc.errors.FunctionError: <x float64[]> is an input; givens= cannot replace it as well
    """


class MissingInput(FunctionError):
    """The outputs need an input that was not listed, and has no default.

    >>> import symc, symc.tensor as T
    >>> x, y = T.scalars("x", "y")
    >>> symc.function([x], x + y)
    Traceback (most recent call last):
    ...
    symc.errors.MissingInput: the outputs need <y float64[]>, which is not among the inputs...
    """


class UnusedInput(FunctionError):
    """A listed input is not needed for the outputs. ``on_unused_input="ignore"`` allows it.

    >>> import symc, symc.tensor as T
    >>> x, y = T.scalars("x", "y")
    >>> symc.function([x, y], x)
    Traceback (most recent call last):
    ...
    symc.errors.UnusedInput: input 1, <y float64[]>, is not needed for the outputs...
    """


class BadUpdate(FunctionError):
    """An update does not fit its shared variable, in dtype or in rank.

    >>> import symc
    >>> count = symc.shared(0)
    >>> symc.function([], updates={count: count + 0.5})
    Traceback (most recent call last):
    ...
    symc.errors.BadUpdate: the new value is float64 and would lose precision as int64...
    """


class BadArgument(SymcError, TypeError):
    """A compiled function was called with too many, too few or the wrong arguments.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> symc.function([x], x + 1, mode="python")([1.0], [2.0])
    Traceback (most recent call last):
    ...
    symc.errors.BadArgument: function takes 1 argument, not 2
    """


class CannotSave(SymcError, TypeError):
    """Something has no form in a file: a Python function, say, or an op that calls one.

    >>> import symc
    >>> @symc.op(output="float64")
    ... def half(x: "float64"):
    ...     return x / 2
    >>> symc.save(symc.function([], half(1.0), mode="python"), "half.symc")
    Traceback (most recent call last):
    ...
    symc.errors.CannotSave: symc has no form for <pythonop half> in a file...
    """


class BadFile(SymcError, ValueError):
    """A file is damaged, was written by a later symc, or is not one of symc's.

    >>> import symc
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "step.symc")
    >>> _ = file.write_text("something else")
    >>> symc.load(file)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    symc.errors.BadFile: ... is damaged, or was not written by symc.save: ...
    """


class NotFinite(SymcError, FloatingPointError):
    """``mode="nanguard"`` met a NaN or an infinity; the message names the op and its line.

    >>> import symc, symc.tensor as T
    >>> x = T.scalar("x")
    >>> symc.function([x], T.log(x), mode="nanguard")(-1.0)
    Traceback (most recent call last):
    ...
    symc.errors.NotFinite: log gave NaN...
    """


class AssertionFailed(SymcError, AssertionError):
    """A condition of `symc.Assert` does not hold, in the values of this call.

    >>> import symc, symc.tensor as T
    >>> x = T.scalar("x")
    >>> symc.function([x], symc.Assert("x is positive")(x, x > 0), mode="python")(-1.0)
    Traceback (most recent call last):
    ...
    symc.errors.AssertionFailed: x is positive...
    """


class Mismatch(SymcError, AssertionError):
    """``mode="debug"`` found that compiled code and NumPy do not agree, or an access out of range.

    This is an error of symc, or of an op that a user wrote.

    >>> import symc
    >>> issubclass(symc.errors.Mismatch, AssertionError)
    True
    """


class NotBatchable(SymcError, TypeError):
    """`vmap` met an op whose results would differ in length from one element to another.

    >>> import symc, symc.tensor as T
    >>> def power(n):
    ...     return symc.scan(lambda x: x * 2, outputs_info=1, n_steps=n)[0][-1]
    >>> T.vmap(power)(T.lvector("n"))
    Traceback (most recent call last):
    ...
    symc.errors.NotBatchable: scan: the number of steps would differ within the batch, and ...
    """


class DeviceError(SymcError, RuntimeError):
    """A device of CUDA or OpenCL is missing, or failed, or is used in a way it cannot be.

    `code` is the driver's number of the error; 0 where the driver was not asked.

    >>> import symc
    >>> symc.cuda.device("cuda:99")
    Traceback (most recent call last):
    ...
    symc.errors.DeviceError: cuda:99 ...
    """

    def __init__(self, code: int, message: str) -> None:
        """Keep the driver's code beside the message."""
        super().__init__(message)
        self.code = code


def __dir__() -> list[str]:
    return [name for name, value in globals().items() if isinstance(value, type)]


class WrongProcesses(SymcError, RuntimeError):
    """A function of several processes is loaded where there is another number of them.

    Its message has both numbers; ``python -m symc run -n 4`` starts four.

    >>> import symc
    >>> issubclass(symc.errors.WrongProcesses, RuntimeError)
    True
    """


class ProgramsDiffer(SymcError, RuntimeError):
    """Processes that compute together have different programs: see `symc.distributed`.

    Each process would wait for another collective operation, for ever; they compare their programs
    before the first call.

    >>> import symc
    >>> issubclass(symc.errors.ProgramsDiffer, RuntimeError)
    True
    """
