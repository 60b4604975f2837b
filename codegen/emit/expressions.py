"""Expressions of the loop IR as text of the C family, with as few parentheses as are safe to read.

Printing uses a work list, never recursion: an expression may be thousands of nodes deep. A `Select`
is strict in the IR, but C's ``?:`` is not and keeps compilers from vectorising its branches. So a
branch that loads or calls is taken out and named before the statement (`Printer.pending`), and so
is a part that is nested too deeply for some compilers.
"""

from __future__ import annotations

import math as pymath
import struct
from typing import TYPE_CHECKING, TypeAlias, assert_never

from symc.codegen import math
from symc.codegen.dtypes import BOOL, FLOAT32, FLOAT64, INT64, DType
from symc.codegen.emit.in_bytes import is_of_bytes
from symc.codegen.ir import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Length,
    Load,
    Select,
    Unary,
    Var,
)
from symc.codegen.passes.kernels.exact_bools import LOGIC
from symc.codegen.passes.walk import divides, is_plain, names_in, nodes
from symc.codegen.signs import is_natural, is_positive, natural_bits

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from symc.codegen.targets.base import Lang

# How strongly C's operators bind.
LEAF, UNARY, MUL, ADD, SHIFT, LESS, EQUAL, AND, XOR, OR, SELECT = range(11, 0, -1)

INFIX = {
    "mul": (" * ", MUL), "div": (" / ", MUL), "add": (" + ", ADD), "sub": (" - ", ADD),
    "lt": (" < ", LESS), "le": (" <= ", LESS), "gt": (" > ", LESS), "ge": (" >= ", LESS),
    "eq": (" == ", EQUAL), "ne": (" != ", EQUAL),
    "and": (" & ", AND), "band": (" & ", AND), "xor": (" ^ ", XOR), "bxor": (" ^ ", XOR),
    "or": (" | ", OR), "bor": (" | ", OR),
}  # fmt: skip
BOOLEAN: Mapping[str, str] = {"add": "or", "max": "or", "mul": "and", "min": "and"}
WRAPPING = frozenset({"add", "sub", "mul"})
DEEP = 100  # levels of an expression in one statement: clang takes 256 parentheses in another

# Text, or an expression with the weakest operator that its place allows without parentheses.
Piece: TypeAlias = str | tuple[Expr, int]

# The forms for code that may not wrap: a flag follows the operands.
CHECKED = {
    "add": "symc_length_sum", "sub": "symc_length_difference", "mul": "symc_length_product",
    "floordiv": "symc_length_quotient",
}  # fmt: skip


class CNames(dict[str, str]):
    """C names for IR names: the same where possible, else the next free one."""

    def __init__(self, reserved: Iterable[str], taken: set[str] | None = None) -> None:
        """No name is `reserved`, nor in `taken`, which others may add to."""
        super().__init__()
        self.reserved = reserved
        self.taken: set[str] = set() if taken is None else taken

    def __missing__(self, name: str) -> str:
        """Choose the C name of a name seen for the first time."""
        plain = name if name.isascii() else name.encode("ascii", "replace").decode()
        plain = plain if plain.isidentifier() else "".join(c if c.isalnum() else "_" for c in plain)
        if not plain or plain[0].isdigit() or plain.startswith(("symc_", "omp_", "__")):
            plain = "v_" + plain
        free = plain
        number = 1
        while free in self.taken or free in self.reserved:
            number += 1
            free = plain + "_" if number == 2 else f"{plain}_{number}"
        self.taken.add(free)
        self[name] = free
        return free


class Printer:
    """Prints the expressions of one kernel, or of the host program."""

    def __init__(self, lang: Lang, used: dict[str, None], reserved: Iterable[str]) -> None:
        """Collect the runtime functions that are called in `used`."""
        self.lang = lang
        self.used = used  # names of runtime functions, in order of first use
        self.vars = CNames(reserved)
        self.buffers = CNames(reserved, self.vars.taken)
        self.scalars: set[str] = set()  # local buffers that are C variables
        self.natural: set[str] = set()  # variables that are never negative, made of lengths
        self.data: dict[str, int] = {}  # others, made of data, and how many bits they have
        self.positive: set[str] = set()
        self.opposites: dict[str, Expr] = {}  # variables that are ``-x`` of something
        self.lengths: Mapping[tuple[str, int], str] = {}
        self.flag: str | None = None  # the variable that is set where arithmetic would wrap
        self.pending: list[tuple[str, Expr]] | None = None  # branches of Selects taken out
        self.steady: frozenset[str] = frozenset()  # buffers that the loop around does not write to
        self.in_lanes = 0  # how many vector loops are around the statement
        self.in_rows = 0  # how many of them are rows, which may be short, and not strips
        self.in_steps = False  # whether it prints one step of a loop, in which nothing vectorises
        self.bytes: set[str] = set()  # variables that tell something of bytes in memory
        self.along_rows: set[str] = set()  # variables that are others at each element of a row
        self.packed: dict[tuple[str, Expr], str] = {}  # elements that are in a register by now
        self.exact: frozenset[str] = frozenset()  # arrays of bools that are all 0 or 1
        self.as_bytes = False  # whether logic is of bytes that are 0 or 1, and tests none

    def text(self, expr: Expr, minimum: int = 0) -> str:
        """The text of an expression for a place that binds like `minimum`."""
        out: list[str] = []
        stack: list[tuple[Piece, int]] = [((expr, minimum), 0)]
        while stack:
            item, depth = stack.pop()
            if isinstance(item, str):
                out.append(item)
                continue
            node, weakest = item
            if isinstance(node, Var):  # half of all nodes
                out.append(self.vars[node.name])
                continue
            if depth > DEEP and self.pending is not None:
                out.append(self.vars[self.taken_out(node).name])
                continue
            strength, pieces = self.pieces(node)
            if strength < weakest:
                out.append("(")
                stack.append((")", depth))
            stack.extend((piece, depth + 1) for piece in reversed(pieces))
        return "".join(out)

    def pieces(self, expr: Expr) -> tuple[int, tuple[Piece, ...]]:
        """How strongly the text of an expression binds, and the text with holes for operands."""
        match expr:
            case Var(name):
                return LEAF, (self.vars[name],)
            case Load(buffer, index):
                if buffer in self.scalars:
                    return LEAF, (self.buffers[buffer],)
                if (buffer, index) in self.packed:
                    return LEAF, (self.packed[buffer, index],)
                return LEAF, (self.buffers[buffer], "[", (index, 0), "]")
            case Binary():
                return self.binary(expr)
            case Const(value, dtype):
                text = literal(value, dtype, self.lang)
                return (UNARY if text[0] == "-" else LEAF), (text,)
            case Call(function, args, dtype):
                called = self.call(math.function(function, dtype), args)
                if math.widens(function, dtype):  # C widens the arguments by itself
                    return UNARY, (f"({self.lang.types[dtype.name]})", *called)
                return LEAF, called
            case Select(condition, then, otherwise, dtype):
                counted = self.from_either_end(expr)
                if counted is not None:
                    return self.wrapped(*counted)
                of_bytes = any(map(self.is_loaded_bool, (then, otherwise)))
                if self.lang.choose is not None and (of_bytes or self.is_by_bytes(expr)):
                    name = f"{self.lang.choose}_{math.short(dtype)}"
                    self.used[name] = None
                    sides = (", ", (then, SELECT), ", ", (otherwise, SELECT), ")")
                    return LEAF, (name, "(", self.truth(condition, SELECT), *sides)
                first: Piece = (self.branch(then), SELECT + 1)
                if dtype is INT64 and isinstance(then, Const) and isinstance(otherwise, Const):
                    first = f"(int64_t){literal(then.value, dtype, self.lang)}"
                last = (self.branch(otherwise), SELECT)
                return SELECT, (self.truth(condition, SELECT + 1), " ? ", first, " : ", last)
            case Cast(x, dtype):
                return self.cast(x, dtype)
            case Unary():
                return self.unary(expr)
            case Length(buffer, axis):
                return LEAF, (self.lengths[buffer, axis],)
            case _:
                assert_never(expr)

    def cast(self, x: Expr, dtype: DType) -> tuple[int, tuple[Piece, ...]]:
        """A conversion. For floats out of an integer's range C says nothing, our functions do."""
        source = x.dtype
        if source is dtype:
            return UNARY, ((x, UNARY),)
        if dtype.kind == "bool":
            return EQUAL, ((x, SHIFT), " != 0")
        if source.is_float and dtype.is_integer:
            alone = "_alone" if dtype is INT64 and self.jumps else ""
            name = f"symc_{math.short(source.wide)}_to_{math.short(dtype)}{alone}"
            return LEAF, self.call(name, (x,))
        asked = source is BOOL and (self.in_lanes or self.is_loaded_bool(x))
        if asked and self.lang.truth is not None and dtype in (FLOAT32, FLOAT64):
            # gcc 12 converts bools number by number, those of memory and those by which it selects
            # something too, but selects in vectors.
            one, zero = (literal(value, dtype, self.lang) for value in (1.0, 0.0))
            return LEAF, ("(", self.truth(x, SELECT + 1), f" ? {one} : {zero})")
        return UNARY, (f"({self.lang.types[dtype.name]})", self.truth(x, UNARY))

    def unary(self, expr: Unary) -> tuple[int, tuple[Piece, ...]]:
        """A unary operation; results of narrow integers are cut back to their width."""
        dtype = expr.dtype
        if expr.op == "not" or dtype.kind == "bool":
            return UNARY, ("!", self.truth(expr.x, UNARY))
        # LEAF: not `--x`
        text: tuple[Piece, ...] = ("-" if expr.op == "neg" else "~", (expr.x, LEAF))
        if is_narrow(dtype):
            return UNARY, (f"({self.lang.types[dtype.name]})", *text)
        return UNARY, text

    def operator(self, op: str, dtype: DType, right: Expr) -> str:
        """The function for a binary operator that C does not have."""
        if self.in_steps:
            return math.function_of_a_step(op, dtype, right)
        return math.function(op, dtype)

    def binary(self, expr: Binary) -> tuple[int, tuple[Piece, ...]]:
        """A binary operation: an operator of C where it means the same, else a function."""
        op: str = expr.op
        left, right, dtype = expr.left, expr.right, expr.dtype
        if self.flag is not None and self.may_wrap(expr):
            return LEAF, (*self.call(CHECKED[op], (left, right))[:-1], f", &{self.flag})")
        whole = dtype.is_integer and op in ("floordiv", "mod")
        if whole and self.is_natural(left) and self.is_positive(right):
            sign = " / " if op == "floordiv" else " % "
            return MUL, ((left, MUL), sign, (right, MUL + 1))
        power = power_of_two(right) if whole else None
        if power is not None and op == "mod":
            return AND, ((left, MUL), " & ", str((1 << power) - 1))
        if power is not None:
            return SHIFT, ((left, UNARY), " >> ", str(power))
        if dtype.kind == "bool":
            op = BOOLEAN.get(op, op)
        place = self.asked_place(expr) if op == "and" and self.jumps else None
        if place is not None and self.lang.is_place is not None:
            return LEAF, self.call(self.lang.is_place, place)
        if op == "div" and isinstance(right, Const) and right.value == 0:
            # The same for every number, and no compiler warns of it.
            infinity = Const(pymath.copysign(pymath.inf, right.value), dtype)
            return self.binary(Binary("mul", left, infinity, dtype))
        if op not in INFIX:
            return LEAF, self.call(self.operator(op, dtype, right), (left, right))
        sign, strength = INFIX[op]
        if strength <= AND:  # bit operators bind weaker than people expect
            return strength, self.bits(op, left, right, sign, strength)
        if strength <= LESS:
            return strength, (self.truth(left, SHIFT), sign, self.truth(right, SHIFT))
        first: Piece = (left, strength)
        if dtype is INT64 and isinstance(left, Const) and isinstance(right, Const):
            first = f"(int64_t){literal(left.value, dtype, self.lang)}"
        text = (first, sign, (right, strength + 1))
        if op in WRAPPING and is_narrow(dtype):
            return UNARY, (f"({self.lang.types[dtype.name]})(", *text, ")")
        return strength, text

    def bits(self, op: str, left: Expr, right: Expr, sign: str, strength: int) -> tuple[Piece, ...]:
        """``&``, ``|`` or ``^``; logical operators first ask whether an operand is nonzero."""
        if op in LOGIC and left.dtype.kind != "bool":
            return ("(", (left, SHIFT), " != 0)", sign, "(", (right, SHIFT), " != 0)")
        same = isinstance(left, Binary) and left.op == op and left.dtype is right.dtype
        return (self.truth(left, strength if same else MUL), sign, self.truth(right, MUL))

    def truth(self, expr: Expr, minimum: int) -> Piece:
        """An operand of logic, what a selection asks, or a truth value to be a number."""
        if self.as_bytes or not self.is_loaded_bool(expr):
            return (expr, minimum)
        return self.asked(self.text(expr))

    def asked(self, text: str) -> str:
        """A loaded bool goes through a function where a language has one."""
        if self.lang.truth is None:
            return text
        self.used[self.lang.truth] = None
        return f"{self.lang.truth}({text})"

    def is_by_bytes(self, choice: Select) -> bool:
        """Whether the vectors of a row choose floats by what they read of a byte or two."""
        if not self.in_rows or choice.dtype not in (FLOAT32, FLOAT64):
            return False
        return is_of_bytes(choice.condition, self)

    def is_along_row(self, expr: Expr) -> bool:
        """Whether a value is another one at each element of the row around."""
        return not self.along_rows.isdisjoint(names_in(expr))

    def is_loaded_bool(self, expr: Expr) -> bool:
        """Whether this is a bool from an array."""
        return (
            isinstance(expr, Load)
            and expr.dtype is BOOL
            and expr.buffer not in self.scalars
            and (expr.buffer, expr.index) not in self.packed
        )

    def call(self, name: str, args: tuple[Expr, ...]) -> tuple[Piece, ...]:
        """A call of a function of the runtime or of the C library."""
        if not name.startswith("__builtin_"):
            self.used[name] = None
        inner: list[Piece] = [name, "("]
        for position, arg in enumerate(args):
            if position:
                inner.append(", ")
            inner.append((arg, SELECT))
        return (*inner, ")")

    @property
    def jumps(self) -> bool:
        """Whether an index is turned into one from the beginning by a jump: not in vectors."""
        return self.lang.place is not None and not self.in_lanes and self.flag is None

    def is_steady(self, index: Expr) -> bool:
        """Whether an index is a number that the loop around leaves as it is.

        Arithmetic of such is computed once before the loop. A jump is not.
        """
        match index:
            case Load(buffer, Const()):
                return buffer in self.steady
            case _:
                return False

    def wrapped(self, index: Expr, length: Var | Const) -> tuple[int, tuple[Piece, ...]]:
        """An index that counts from the end if it is negative.

        gcc would make a choice between two addresses of ``?:``, which takes twice as long.
        """
        if self.jumps and self.lang.place is not None:
            return LEAF, self.call(self.lang.place, (index, length))
        return ADD, ((index, ADD), " + (", (index, SHIFT), " >> 63 & ", (length, AND + 1), ")")

    def from_either_end(self, expr: Expr) -> tuple[Expr, Var | Const] | None:
        """An index and the length that is added to it where it is negative: that cannot wrap.

        Where it is printed twice, it has to be a variable.
        """
        match expr:
            case Select(
                Binary("lt", index, Const(0)),
                Binary("add", same, Var() | Const() as length),
                other,
            ) if index == same == other and expr.dtype is INT64:
                if not isinstance(index, Var) and (not self.jumps or self.is_steady(index)):
                    return None
                return (index, length) if self.flag is None or self.is_natural(length) else None
            case _:
                return None

    def asked_place(self, expr: Expr) -> tuple[Expr, Expr] | None:
        """An index and a length, if this asks whether the index is in there, from either end."""
        match expr:
            case Binary("and", Binary("ge", index, low), Binary("lt", same, length)) if (
                index == same and index.dtype is INT64
            ):
                opposite = self.opposites.get(low.name) if isinstance(low, Var) else None
                if isinstance(low, Const):
                    opposite = Const(-int(low.value), INT64)
                asks = low == Unary("neg", length, INT64) or opposite == length
                return (index, length) if asks else None
            case _:
                return None

    def branch(self, expr: Expr) -> Expr:
        """A branch of a Select, or the variable that holds it if it must be evaluated before.

        Divisions in loops that are to be vectors take less time than jumps around them.
        """
        if self.pending is None or (is_plain(expr) and not self.is_division(expr)):
            return expr
        return self.taken_out(expr)

    def is_division(self, expr: Expr) -> bool:
        return self.in_lanes > 0 and any(map(divides, nodes(expr)))

    def taken_out(self, expr: Expr) -> Var:
        """The variable that holds an expression, which is printed before the statement."""
        assert self.pending is not None
        name = self.fresh("t")
        self.pending.append((name, expr))
        return Var(name, expr.dtype)

    def fresh(self, stem: str) -> str:
        """An IR name that is new here; its C name is ``t``, ``t_2`` ..."""
        name = f"{stem}:{len(self.vars)}"
        number, plain = 1, stem
        while plain in self.vars.taken or plain in self.vars.reserved:
            number += 1
            plain = f"{stem}{number}"
        self.vars.taken.add(plain)
        self.vars[name] = plain
        return name

    def may_wrap(self, expr: Binary) -> bool:
        """Whether an operation on lengths that fit into 64 bits may give one that does not."""
        match expr:
            case Binary("add", left, Const(value)):
                return value > 0 or not self.is_natural(left)
            case Binary("sub", left, right) if self.is_natural(left) and self.is_natural(right):
                return False
            case Binary("floordiv", _, Const(value)):
                return value == -1
            case _:
                return expr.op in CHECKED

    def is_natural(self, expr: Expr) -> bool:
        """Whether an int64 expression is surely not negative."""
        return is_natural(expr, self.natural, self.positive, self.data)

    def named(self, var: Var, value: Expr) -> None:
        """Take note of a variable whose value is surely not negative, or that of another turned.

        And of one that tells something of bytes in memory.
        """
        if self.in_rows and self.is_along_row(value):
            self.along_rows.add(var.name)
        if is_of_bytes(value, self):
            self.bytes.add(var.name)
        if var.dtype.kind != "int":
            return
        if isinstance(value, Unary) and value.op == "neg":
            self.opposites[var.name] = value.x
        bits = natural_bits(value, self.natural, self.positive, self.data)
        if bits:
            self.data[var.name] = bits
        elif bits == 0:
            self.natural.add(var.name)

    def is_positive(self, expr: Expr) -> bool:
        """Whether an int64 expression is surely above zero: a product of such things."""
        return is_positive(expr, self.positive)


def power_of_two(expr: Expr) -> int | None:
    """Which power of two a constant is: by these, integers are divided by shifts, rounded down."""
    value = expr.value if isinstance(expr, Const) else 0
    if not isinstance(value, int) or value < 1 or value & (value - 1):
        return None
    return value.bit_length() - 1


def is_narrow(dtype: DType) -> bool:
    """Whether C computes this type in a wider one."""
    return dtype.kind != "float" and dtype.bits < 32


def literal(value: float, dtype: DType, lang: Lang) -> str:
    """A number exactly, as short as possible."""
    if dtype.kind == "bool":
        return "1" if value else "0"
    if dtype.kind == "float":
        return float_literal(float(value), dtype, lang)
    number = int(value)
    if dtype.kind == "int" and number == -(1 << (dtype.bits - 1)) and dtype.bits >= 32:
        return f"(-{-number - 1} - 1)"  # C has no negative literals
    return str(number) + lang.suffixes[dtype.name]


def float_literal(value: float, dtype: DType, lang: Lang) -> str:
    """A floating-point number exactly; float16 only occurs where C converts it anyway."""
    name = dtype.name
    if pymath.isnan(value):
        return lang.nan[name]
    if pymath.isinf(value):
        return ("-" if value < 0 else "") + lang.infinity[name]
    digits = repr(value) if dtype is FLOAT64 else shortest(value)
    if digits == "inf" or digits == "-inf":
        return digits.replace("inf", lang.infinity[name])
    if "." not in digits and "e" not in digits:
        digits += ".0"
    return digits + lang.suffixes[name]


def shortest(value: float) -> str:
    """The shortest decimal that is read back as the nearest float32."""
    try:
        (exact,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return "inf" if value > 0 else "-inf"
    for digits in range(1, 9):
        text = repr(float(f"{exact:.{digits}g}"))
        if struct.unpack("f", struct.pack("f", float(text)))[0] == exact:
            return text
    return repr(float(f"{exact:.9g}"))
