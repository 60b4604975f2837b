"""Loop IR: a program as loops over flat buffers. The grammar, which `text.py` prints:

    program = Program(name, sizes, buffers, kernels, steps)
    size    = Size(var, value, where)                    value = expr over earlier sizes and Lengths
    buffer  = Buffer(name, dtype, shape, role)           role = input | output | shared | constant
                                                              | temp | row | local
    step    = Launch(kernel, buffers, sizes)             run a kernel once
            | Routine(name, args)                        call a function of codegen/runtime or BLAS
            | PythonCall(number, name, args)             call back into Python
            | Check(condition, code)                     stop and return `code` unless it holds
            | Measure(size, buffer)                      a length becomes known: read it
            | Repeat(var, extent, steps, stop, done)     a loop around steps
            | Branch(condition, then, otherwise)         one of two blocks of steps
    kernel  = Kernel(name, params, sizes, body, note)
    stmt    = Loop(var, extent, kind, body, note, cut) | If(condition, then, otherwise)
            | Let(var, value) | Store(buffer, index, value)
            | Accumulate(buffer, index, op, value) | Alloc(buffer, value)
            | Barrier() | Combine(buffer, op, reach)     in teams
    cut     = Strips(whole, length)                      it goes over the strips of another loop
            | Strip(number, strips)                      it goes over the iterations of a strip
    kind    = parallel | serial | vector | unroll        `parallel`: iterations are independent
            | packs                                      serial, some iterations side by side
            | grid | team | lane | round                 on a device, see below
    expr    = Const(value, dtype) | Var(name, dtype) | Length(buffer, axis) | Load(buffer, index)
            | Unary(op, x) | Binary(op, left, right) | Call(function, args) | Cast(x, dtype)
            | Select(condition, then, otherwise)

Meaning:

- Every buffer is C-contiguous, and an index is one int64 expression (int32 in the kernels of a
  device, where that suffices) into its flat elements.
- A name is bound once in a kernel (loop variables, `Let`), and is visible to the end of the block
  that binds it. Expressions are trees; whatever is shared is named with `Let`.
- Expressions have no effects and are strict: `Select` evaluates both sides, so each Load in it must
  be in range whatever the condition. Statements that must not run stand under `If`.
- A kernel names its buffers and sizes by its own parameters; `Launch` gives the program's buffers
  and size expressions for them, in order. So two layers of a network can share one kernel.
- `Alloc` declares a local buffer, visible to the end of its block: a scalar (shape ``()``) lives in
  a register, anything longer in scratch memory that belongs to one thread. It is uninitialised, but
  that the last pass, `declare`, gives a scalar the value that is stored to it first.
- `Accumulate` is ``buffer[index] = op(buffer[index], value)``. The order of iterations of a serial
  or vector loop that only accumulates may be changed by up to reassociation.
- The iterations of a `packs` loop compute nothing from what they write. So some of them at a time
  may do everything side by side but for what they add at computed places, and that in order.
- The value of a size is exact: where 64 bits cannot hold it, or a part of it, the call ends with
  the status `TOO_LARGE`; the side that a `Select` does not take is no part of it. Other integer
  arithmetic wraps.
- `floordiv` and `mod` have Python's signs, and give 0 for a zero divisor. `max`/`min` propagate
  NaN. Comparisons and `and or xor not` give bool; `band bor bxor invert` are bitwise; `shl shr`
  follow NumPy for counts that are negative or too large.
- On a device a kernel is one `grid` loop, an iteration for each thread, or one `team` loop, an
  iteration for each team of threads. The threads of a team all run the same statements, each with
  local scalars of its own, but for the iterations of a `lane` loop, which they share out. What a
  thread writes to memory the others see after the next `Barrier`. `Combine` gives each thread of
  the team the scalars of all of them, or of those up to itself, combined by `op`. The iterations of
  a `round` loop are shared out in order, one for each thread at a time; as all threads run its body
  equally often, its variable may lie beyond the extent. A team of one thread, for which all of this
  is ordinary loops, gives the same result up to reassociation.
- Strip-mining makes a loop over strips, and in its body loops over the iterations of one. The `cut`
  of these loops says so, and with it what their extents are: with `Strips`, how many strips of a
  length there are in the whole; with a `Strip`, how many iterations the strip of that number has,
  fewer in the last. `passes/strips.py` makes both. Where threads of a device share out strips, a
  vector loop over one is a pack: neighbouring elements that one thread reads and writes at a time.
- A `row` is a piece of another buffer that moves: its offset depends on the variable of a `Repeat`.
  To kernels it is a buffer like any other. So whatever a kernel writes, no other row or buffer that
  it is given overlaps it.
- The variable of a `Repeat` is a size inside it, and so is all that follows from it.
- Complex numbers occur in lowered programs; `passes/expressions/pairs.py` makes pairs of floats of
  them. After it, kernels have none; buffers of the program may, and are arrays of their components.
- float16 and bfloat16 only occur in buffers, `Load`, `Store`, `Let`, `Const` and `Cast`: arithmetic
  is wider. Of bfloat16 `passes/expressions/bits.py` makes uint16; after it, kernels have none, and
  buffers of the program may.

The classes stand in `values.py` and `statements.py`. These are imported when a name of theirs is
asked for: modules of ops speak of the IR in their rules of lowering, and a program that finds all
its functions in the cache lowers nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symc.codegen.statements import *
    from symc.codegen.values import *


def _late(name: str) -> Any:
    """All names of both modules at once, when one is asked for the first time."""
    if not name.startswith("__"):  # as `from symc.codegen.ir import ...` asks for ``__path__``
        from symc.codegen import statements, values

        globals().update({**vars(values), **vars(statements), **globals()})
        if name in globals():
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late
