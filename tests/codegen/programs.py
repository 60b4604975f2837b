"""Programs to test with: short ways to write them, and a generator of random ones."""

from __future__ import annotations

import random
from collections.abc import Sequence

from symc.codegen.dtypes import FLOAT64, INT64, DType
from symc.codegen.ir import (
    Accumulate,
    AccumulateOp,
    Alloc,
    Binary,
    BinaryOp,
    Buffer,
    Call,
    Cast,
    Const,
    Expr,
    Kernel,
    Launch,
    Length,
    Let,
    Load,
    Loop,
    LoopKind,
    Param,
    Program,
    Role,
    Size,
    Stmt,
    Store,
    Var,
    add,
    const,
    mul,
)
from symc.codegen.meaning.interpret import Array, Result, interpret
from symc.codegen.text import kernel_text

F64 = FLOAT64
N, C = Var("n"), Var("c")
ZERO = const(0)


def load(buffer: str, index: Expr, dtype: DType = F64) -> Load:
    """An element."""
    return Load(buffer, index, dtype)


def op(name: BinaryOp, left: Expr, right: Expr) -> Binary:
    """An operation that gives the dtype of its operands."""
    return Binary(name, left, right, left.dtype)


def let(name: str, value: Expr) -> tuple[Var, Let]:
    """A name and its statement."""
    var = Var(name, value.dtype)
    return var, Let(var, value)


def loop(kind: LoopKind, var: str, extent: Expr, *body: Stmt, note: str = "") -> Loop:
    """A loop."""
    return Loop(Var(var), extent, kind, body, note)


def local(name: str, *shape: Expr, dtype: DType = F64) -> Alloc:
    """A local buffer."""
    return Alloc(Buffer(name, dtype, shape, "local"))


def row(i: str, j: str) -> Expr:
    """The index ``i*c + j``."""
    return add(mul(Var(i), C), Var(j))


def buffer(name: str, role: Role, *shape: Expr, dtype: DType = F64) -> Buffer:
    """A buffer of the program."""
    return Buffer(name, dtype, shape, role)


def program(buffers: Sequence[Buffer], *body: Stmt, sizes: Sequence[Var] = (N, C)) -> Program:
    """One kernel over all buffers, whose parameters have the buffers' names.

    The sizes are the lengths of the first input.
    """
    source = next(b for b in buffers if b.role == "input")
    params = tuple(Param(b.name, b.dtype, b.role in ("output", "temp", "shared")) for b in buffers)
    return Program(
        "test",
        tuple(Size(size, Length(source.name, axis)) for axis, size in enumerate(sizes)),
        tuple(buffers),
        (Kernel("main", params, tuple(sizes), body),),
        (Launch("main", tuple(b.name for b in buffers), tuple(sizes)),),
    )


def body_of(made: Program) -> tuple[Stmt, ...]:
    """The body of the only kernel."""
    return made.kernels[0].body


def softmax() -> Program:
    """Softmax over rows as lowering writes it."""
    return program(
        [buffer("x", "input", N, C), buffer("y", "output", N, C)],
        loop(
            "parallel", "i", N,
            local("m"),
            Store("m", ZERO, Const(-float("inf"), F64)),
            loop("serial", "j", C, Accumulate("m", ZERO, "max", load("x", row("i", "j")))),
            local("e", C),
            loop(
                "parallel", "k", C,
                Let(Var("t", F64), Call(
                    "exp", (op("sub", load("x", row("i", "k")), load("m", ZERO)),), F64
                )),
                Store("e", Var("k"), Var("t", F64)),
            ),
            local("s"),
            Store("s", ZERO, Const(0.0, F64)),
            loop("serial", "l", C, Accumulate("s", ZERO, "add", load("e", Var("l")))),
            loop(
                "parallel", "o", C,
                Store("y", row("i", "o"), op("div", load("e", Var("o")), load("s", ZERO))),
            ),
        ),
    )  # fmt: skip


def elementwise(length: int, seed: int = 0) -> Program:
    """A flat map with `length` values in its body, as a big graph without reductions gives."""
    rng = random.Random(seed)
    first, start = let("t0", load("x", Var("i")))
    names, body = [first], [start]
    for number in range(1, length):
        kind: BinaryOp = rng.choice(("add", "sub", "mul"))
        var, stmt = let(f"t{number}", op(kind, rng.choice(names[-50:]), rng.choice(names[-5:])))
        names.append(var)
        body.append(stmt)
    return program(
        [buffer("x", "input", N), buffer("y", "output", N)],
        loop("parallel", "i", N, *body, Store("y", Var("i"), names[-1])),
        sizes=[N],
    )


class Random:
    """Makes random programs of two kinds: groups over rows, and sequences of flat loops."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.count = 0

    def name(self, stem: str) -> str:
        """A new name."""
        self.count += 1
        return f"{stem}{self.count}"

    def expr(self, leaves: Sequence[Expr], depth: int = 3) -> Expr:
        """A float64 expression."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return (
                rng.choice(leaves)
                if rng.random() < 0.85
                else Const(rng.choice((0.5, -0.0, 2.0)), F64)
            )
        choice = rng.random()
        if choice < 0.15:
            return Call("tanh", (self.expr(leaves, depth - 1),), F64)
        if choice < 0.25:
            return Cast(Cast(self.expr(leaves, depth - 1), INT64), F64)
        kind: BinaryOp = rng.choice(("add", "sub", "mul", "max", "min"))
        return op(kind, self.expr(leaves, depth - 1), self.expr(leaves, depth - 1))

    def lets(self, leaves: Sequence[Expr]) -> tuple[list[Stmt], list[Expr]]:
        """Some named values, some of them equal, unused, or independent of the loop."""
        body: list[Stmt] = []
        values = list(leaves)
        for _ in range(self.rng.randrange(5)):
            var, stmt = let(self.name("t"), self.expr(values, 2))
            body.append(stmt)
            values.append(var)
            if self.rng.random() < 0.2:
                again, stmt = let(self.name("t"), stmt.value)
                body.append(stmt)
                values.append(again)
        return body, values

    def stages(
        self, extent: Expr, given: Sequence[tuple[str, Expr | None]], outputs: Sequence[str],
        prefix: Expr | None,
    ) -> list[Stmt]:  # fmt: skip
        """Maps and reductions over one axis; `prefix` is the row number of given buffers."""
        rng = self.rng
        rows: list[tuple[str, bool]] = [(name, row is not None) for name, row in given]
        scalars: list[str] = []
        out: list[Stmt] = []
        targets = [*outputs]
        while targets or rng.random() < 0.6:
            var = Var(self.name("j"))

            def at(name: str, is_row: bool, index: Expr) -> Expr:
                place = add(mul(prefix, extent), index) if is_row and prefix is not None else index
                return load(name, place)

            shifted = op("mod", add(var, const(rng.choice((1, 2)))), extent)
            leaves: list[Expr] = [
                at(name, is_row, shifted if rng.random() < 0.15 else var) for name, is_row in rows
            ]
            leaves += [load(name, ZERO) for name in scalars] * 2
            body, values = self.lets(rng.sample(leaves, min(len(leaves), 4)))
            value = self.expr(values)
            if rng.random() < 0.4:
                scalar = self.name("s")
                kind: AccumulateOp = rng.choice(("add", "max", "min"))
                out += [local(scalar), Store(scalar, ZERO, Const(0.0, F64))]
                body.append(Accumulate(scalar, ZERO, kind, value))
                out.append(loop("serial", var.name, extent, *body))
                scalars.append(scalar)
            elif targets and rng.random() < 0.5:
                target = targets.pop()
                place = var if prefix is None else add(mul(prefix, extent), var)
                out.append(loop("parallel", var.name, extent, *body, Store(target, place, value)))
                rows.append((target, True))
            else:
                scratch = self.name("e")
                out.append(local(scratch, extent))
                out.append(loop("parallel", var.name, extent, *body, Store(scratch, var, value)))
                rows.append((scratch, False))
        return out

    def rows(self) -> Program:
        """A group over rows, with local buffers, and a sum over columns."""
        stages = self.stages(C, [("x", N), ("b", None)], ["y", "z"], Var("i"))
        columns = loop(
            "serial", "r", N,
            loop("parallel", "q", C, Accumulate("w", Var("q"), "add", load("y", row("r", "q")))),
        )  # fmt: skip
        clear = loop("parallel", "p", C, Store("w", Var("p"), Const(0.0, F64)))
        buffers = [
            buffer("x", "input", N, C), buffer("b", "input", C), buffer("y", "output", N, C),
            buffer("z", "output", N, C), buffer("w", "output", C),
        ]  # fmt: skip
        return program(buffers, loop("parallel", "i", N, *stages), clear, columns)

    def flat(self) -> Program:
        """Loops over nested axes with flat indexes, after one another."""
        buffers = [
            buffer("x", "input", N, C), buffer("b", "input", N),
            buffer("y", "output", N, C), buffer("z", "output", N, C),
        ]  # fmt: skip
        out: list[Stmt] = []
        ready = ["x"]
        for target in ("y", "z", "y"):
            i, j = self.name("i"), self.name("j")
            leaves: list[Expr] = [load(name, row(i, j)) for name in ready]
            if self.rng.random() < 0.3:
                leaves.append(load("b", Var(i)))
            if self.rng.random() < 0.3:
                leaves.append(Cast(row(i, j), F64))
            body, values = self.lets(leaves)
            body.append(Store(target, row(i, j), self.expr(values)))
            out.append(loop("parallel", i, N, loop("parallel", j, C, *body)))
            ready = sorted({*ready, target})
        return program(buffers, *out)

    def program(self) -> Program:
        """Either kind."""
        return self.rows() if self.rng.random() < 0.6 else self.flat()

    def arrays(self, made: Program, n: int, c: int) -> dict[str, Array]:
        """Values for the inputs, special ones among them."""
        lengths = {"n": n, "c": c}
        found: dict[str, Array] = {}
        for item in made.buffers:
            if item.role == "input":
                shape = tuple(lengths[size.name] for size in item.shape if isinstance(size, Var))
                count = 1
                for length in shape:
                    count *= length
                values = [self.rng.choice((-1.5, -0.0, 0.25, 1.0, 3.0)) for _ in range(count)]
                found[item.name] = Array(values, shape)
        return found


def same(first: Result, second: Result) -> bool:
    """Whether two calls gave the same bits."""
    return repr(first) == repr(second)


def run(made: Program, arrays: dict[str, Array], *, backwards: bool = False) -> Result:
    """The interpreter's result."""
    return interpret(made, arrays, backwards=backwards)


def shown(made: Program) -> str:
    """The body of the only kernel as text, with its indentation removed, between line breaks."""
    lines = kernel_text(made.kernels[0]).splitlines()[1:]
    return "\n" + "\n".join(line[2:] for line in lines) + "\n"
