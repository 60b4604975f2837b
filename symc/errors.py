"""Every error symc raises on purpose.

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
    ├── NotBatchable (TypeError)          jacobian/hessian met an op without a batching rule
    ├── DeviceError (RuntimeError)        a CUDA device is missing, or failed, or is used wrongly
    ├── ProgramsDiffer (RuntimeError)     processes that compute together have different programs
    └── WrongProcesses (RuntimeError)     a loaded function is of another number of processes

Compiling can also raise `CompileFailed` and `CompilerMissing` from `symc.codegen.errors`.
Each message has the request, the fault, the line where the user wrote it, and the remedy.
"""

from __future__ import annotations

import numpy as np


class SymcError(Exception):
    """The base of all errors that symc raises on purpose."""


class ShapeMismatch(SymcError, ValueError):
    """Two lengths that must be equal are not, when the graph is built or when it runs."""


class RankError(SymcError, TypeError):
    """A tensor has the wrong number of axes."""


class DTypeError(SymcError, TypeError):
    """A dtype does not fit, or converting to it would lose precision."""


class TooLarge(SymcError, MemoryError, ValueError):
    """A length or a number of bytes needs more than 64 bits, or an array more memory than there is.

    NumPy raises `ValueError` for the former and `MemoryError` for the latter; this is both. The
    call has changed nothing.
    """


class BadIndex(SymcError, IndexError):
    """An index is out of range, or there are more indexes than axes."""


class DivisionByZero(SymcError, ZeroDivisionError):
    """An integer was divided by zero in a compiled function."""


class LinAlgError(SymcError, np.linalg.LinAlgError, ValueError):
    """A matrix has no result: it is singular, not positive definite, or iterations failed."""


class GradientError(SymcError, ValueError):
    """A derivative cannot be taken as asked."""


class DisconnectedInput(GradientError):
    """The tensor to differentiate with respect to does not influence the cost."""


class LoopError(SymcError, ValueError, TypeError):
    """The parts of a loop do not fit together."""


class FunctionError(SymcError, ValueError):
    """`symc.function` was given something that it cannot compile."""


class MissingInput(FunctionError):
    """The outputs need an input that was not listed."""


class UnusedInput(FunctionError):
    """A listed input is not needed for the outputs."""


class BadUpdate(FunctionError):
    """An update does not fit its shared variable."""


class BadArgument(SymcError, TypeError):
    """A compiled function was called with too many, too few or the wrong arguments."""


class CannotSave(SymcError, TypeError):
    """Something has no form in a file: a Python function, say."""


class BadFile(SymcError, ValueError):
    """A file is damaged, was written by a later symc, or is not one of symc's."""


class NotFinite(SymcError, FloatingPointError):
    """``mode="nanguard"`` met a NaN or an infinity."""


class AssertionFailed(SymcError, AssertionError):
    """A condition of `symc.Assert` does not hold."""


class Mismatch(SymcError, AssertionError):
    """``mode="debug"`` found that compiled code and NumPy do not agree, or an access out of range.

    This is an error of symc, or of an op that a user wrote.
    """


class NotBatchable(SymcError, TypeError):
    """`jacobian` or `hessian` met an op that has no batching rule."""


class DeviceError(SymcError, RuntimeError):
    """A CUDA device is missing, or failed, or is used in a way it cannot be.

    `code` is the driver's number of the error; 0 where the driver was not asked.
    """

    def __init__(self, code: int, message: str) -> None:
        """Keep the driver's code beside the message."""
        super().__init__(message)
        self.code = code


def __dir__() -> list[str]:
    return [name for name, value in globals().items() if isinstance(value, type)]


class WrongProcesses(SymcError, RuntimeError):
    """A function of several processes is loaded where there is another number of them."""


class ProgramsDiffer(SymcError, RuntimeError):
    """Processes that compute together have different programs: see `symc.distributed`."""
