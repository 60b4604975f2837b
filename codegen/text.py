"""Programs as text, in the grammar of `ir.py`: for people, and for golden files.

::

    program mean
      size n = length(x, 0)
      input x: float64[n]
      output y: float64[]

    kernel sum(x: float64, y: write float64; n)
      alloc s: float64[]
      s[0] = 0.0
      for i in serial(n):
        s[0] add= x[i]
      y[0] = s[0]/float64(n)

    run
      sum(x, y; n)

Operators are Python's, with Python's precedence; where Python has none, functions. Notes are
comments. An expression with more than a few hundred operations in a chain is more than this prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from symc.codegen.ir import (
    Accumulate,
    Alloc,
    Barrier,
    Binary,
    Branch,
    Buffer,
    Call,
    Cast,
    Check,
    Combine,
    Const,
    Cut,
    Expr,
    If,
    Kernel,
    Launch,
    Length,
    Let,
    Load,
    Loop,
    Measure,
    Param,
    Pointer,
    Program,
    PythonCall,
    Region,
    Repeat,
    Routine,
    Select,
    Size,
    Step,
    Stmt,
    Store,
    Strip,
    Strips,
    Unary,
    Var,
)

Line = tuple[str, object]
"""A line of text, and the part of the program it prints; None where it prints no part."""

_OR, _XOR, _AND, _NOT, _COMPARE, _BITOR, _BITXOR, _BITAND = range(8)
_SHIFT, _ADD, _MUL, _UNARY, _ATOM = range(8, 13)

_INFIX = {
    "or": (" or ", _OR), "xor": (" xor ", _XOR), "and": (" and ", _AND),
    "eq": (" == ", _COMPARE), "ne": (" != ", _COMPARE), "lt": (" < ", _COMPARE),
    "le": (" <= ", _COMPARE), "gt": (" > ", _COMPARE), "ge": (" >= ", _COMPARE),
    "bor": (" | ", _BITOR), "bxor": (" ^ ", _BITXOR), "band": (" & ", _BITAND),
    "shl": (" << ", _SHIFT), "shr": (" >> ", _SHIFT),
    "add": (" + ", _ADD), "sub": (" - ", _ADD),
    "mul": ("*", _MUL), "div": ("/", _MUL), "floordiv": (" // ", _MUL), "mod": (" % ", _MUL),
}  # fmt: skip
_PREFIX = {"neg": ("-", _UNARY), "invert": ("~", _UNARY), "not": ("not ", _NOT)}


def text(program: Program) -> str:
    """The whole program."""
    return "\n".join(line for line, _ in lines(program)) + "\n"


def kernel_text(kernel: Kernel) -> str:
    """One kernel."""
    return "\n".join(line for line, _ in _kernel(kernel)) + "\n"


def expression(expr: Expr) -> str:
    """One expression."""
    return _expr(expr, 0)


def lines(program: Program) -> Iterator[Line]:
    """The program line by line, each with the part of it that it prints."""
    yield f"program {program.name}", program
    for size in program.sizes:
        yield _size(size), size
    for buffer in program.buffers:
        of = "" if buffer.of is None else f" = {_argument(buffer.of)}"
        yield f"  {buffer.role} {_buffer(buffer)}{of}", buffer
    for kernel in program.kernels:
        yield "", None
        yield from _kernel(kernel)
    yield "", None
    yield "run", None
    yield from _steps(program.steps, "  ")


def _note(note: str) -> str:
    return "  # " + note.replace("\n", "; ") if note else ""


def _size(size: Size) -> str:
    value = "measured" if size.value is None else expression(size.value)
    return f"  size {size.var.name} = {value}{_note(size.note)}"


def _buffer(buffer: Buffer) -> str:
    return f"{buffer.name}: {buffer.dtype}[{_list(buffer.shape)}]"


def _list(exprs: Iterable[Expr]) -> str:
    return ", ".join(map(expression, exprs))


def _steps(steps: Iterable[Step], indent: str) -> Iterator[Line]:
    for step in steps:
        yield indent + _step(step), step
        match step:
            case Repeat(steps=body, stop=stop):
                yield from _steps(body, indent + "  ")
                if stop is not None:
                    yield f"{indent}  until {stop}[0]", None
            case Branch(_, then, otherwise):
                yield from _steps(then, indent + "  ")
                yield indent + "else:", None
                yield from _steps(otherwise, indent + "  ")
            case _:
                pass


def _step(step: Step) -> str:
    match step:
        case Launch(kernel, buffers, sizes):
            return f"{kernel}({_arguments(', '.join(buffers), _list(sizes))})"
        case Routine(name, args, note):
            return f"routine {name}({', '.join(map(_argument, args))}){_note(note)}"
        case PythonCall(number, name, args, note):
            return f"python {number} {name}({', '.join(map(_region, args))}){_note(note)}"
        case Check(condition, code, note):
            return f"check {expression(condition)} else {code}{_note(note)}"
        case Measure(size, buffer):
            return f"measure {size} = {buffer}[0]"
        case Repeat(var, extent, done=done, note=note, endless=endless):
            measured = "" if done is None else f"measure {done} by "
            measured += "endless " if endless else ""
            return f"{measured}repeat {var} in {expression(extent)}:{_note(note)}"
        case Branch(condition, note=note):
            return f"if {condition}[0]:{_note(note)}"
        case _:
            assert_never(step)


def _argument(arg: Pointer | Expr) -> str:
    if isinstance(arg, Pointer):
        place = "" if arg.offset == Const(0) else f" + {_expr(arg.offset, _ADD + 1)}"
        return ("write " if arg.written else "") + arg.buffer + place
    return expression(arg)


def _region(arg: Region | Const) -> str:
    if isinstance(arg, Region):
        return f"{_argument(arg.pointer)}[{_list(arg.shape)}]"
    return expression(arg)


def _arguments(buffers: str, sizes: str) -> str:
    return f"{buffers}; {sizes}" if sizes else buffers


def _param(param: Param) -> str:
    return f"{param.name}: {'write ' if param.written else ''}{param.dtype}"


def _kernel(kernel: Kernel) -> Iterator[Line]:
    params = ", ".join(map(_param, kernel.params))
    sizes = ", ".join(size.name for size in kernel.sizes)
    yield f"kernel {kernel.name}({_arguments(params, sizes)})", kernel
    yield from _comment(kernel.note, "  ")
    yield from _block(kernel.body, "  ")


def _comment(note: str, indent: str) -> Iterator[Line]:
    for line in note.splitlines():
        yield f"{indent}# {line}".rstrip(), None


def _block(block: tuple[Stmt, ...], indent: str) -> Iterator[Line]:
    if not block:
        yield indent + "pass", None
    for stmt in block:
        match stmt:
            case Let(var, value):
                yield f"{indent}let {var.name}: {var.dtype} = {expression(value)}", stmt
            case Store(buffer, index, value):
                yield f"{indent}{_element(buffer, index)} = {expression(value)}", stmt
            case Accumulate(buffer, index, op, value, atomic):
                how = f"atomic {op}" if atomic else op
                yield f"{indent}{_element(buffer, index)} {how}= {expression(value)}", stmt
            case Alloc(buffer, value):
                first = "" if value is None else f" = {expression(value)}"
                yield f"{indent}alloc {_buffer(buffer)}{first}", stmt
            case Loop(var, extent, kind, body, note, cut):
                yield from _comment(note, indent)
                how = f"{kind}({expression(extent)}){'' if cut is None else ' ' + _cut(cut)}"
                yield f"{indent}for {var.name} in {how}:", stmt
                yield from _block(body, indent + "  ")
            case If(condition, then, otherwise):
                yield f"{indent}if {expression(condition)}:", stmt
                yield from _block(then, indent + "  ")
                if otherwise:
                    yield indent + "else:", None
                    yield from _block(otherwise, indent + "  ")
            case Barrier():
                yield f"{indent}barrier", stmt
            case Combine(buffer, op, _, reach):
                yield f"{indent}combine {buffer} {op}{'' if reach == 'all' else ' ' + reach}", stmt
            case _:
                assert_never(stmt)


def _cut(cut: Cut) -> str:
    """``strips(n, 16)`` or ``strip(block, n, 16)``."""
    match cut:
        case Strips(whole, length):
            return f"strips({expression(whole)}, {expression(length)})"
        case Strip(number, Strips(whole, length)):
            return f"strip({expression(number)}, {expression(whole)}, {expression(length)})"
        case _:
            assert_never(cut)


def _element(buffer: str, index: Expr) -> str:
    return f"{buffer}[{expression(index)}]"


def _expr(expr: Expr, weakest: int) -> str:
    """The text of an expression, in parentheses if it binds more weakly than `weakest`."""
    strength = _ATOM
    match expr:
        case Var(name):
            return name
        case Const(value, dtype):
            shown = repr(float(value)) if dtype.is_float else repr(value)
            strength = _UNARY if shown.startswith("-") else _ATOM
        case Load(buffer, index):
            return _element(buffer, index)
        case Binary("max" | "min" as op, left, right):
            return f"{op}({expression(left)}, {expression(right)})"
        case Binary():
            shown, strength = _binary(expr)
        case Unary(op, x):
            sign, strength = _PREFIX[op]
            shown = sign + _expr(x, strength)
        case Call(function, args):
            return f"{function}({_list(args)})"
        case Cast(x, dtype):
            return f"{dtype}({expression(x)})"
        case Select(condition, then, otherwise):
            return f"select({_list((condition, then, otherwise))})"
        case Length(buffer, axis):
            return f"length({buffer}, {axis})"
        case _:
            assert_never(expr)
    return f"({shown})" if strength < weakest else shown


def _binary(expr: Binary) -> tuple[str, int]:
    sign, strength = _INFIX[expr.op]
    left, right = expr.left, expr.right
    if strength == _COMPARE:  # comparisons do not chain
        return _expr(left, strength + 1) + sign + _expr(right, strength + 1), strength
    if expr.op == "add" and isinstance(right, Const) and _is_negative(right):
        positive = Const(-right.value, right.dtype)
        return f"{_expr(left, strength)} - {_expr(positive, strength + 1)}", strength
    return _expr(left, strength) + sign + _expr(right, strength + 1), strength


def _is_negative(constant: Const) -> bool:
    """Whether adding this integer reads better as a subtraction."""
    return constant.dtype.is_integer and constant.value < 0
