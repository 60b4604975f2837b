"""unbroken: loops that write into shared variables run to their end, or write into copies.

A variable must never be half-changed. So nothing may end a loop that writes where one lies: no
check in a step, and no signal. Its checks are answered before it (`foresee.py`), and signals wait,
if it takes moments:

    repeat step in n: w[p[step]] += x[step]         few = 3 * n <= 2**28
                                                    if few:
                                                        repeat step in n: w[p[step]] += x[step]
                                                    else:
                                                        copy w to kept
                                                        repeat step in n: kept[p[step]] += x[step]
                                                        copy kept to w

A loop that takes longer works on a copy, for which it is little; and so does one that still checks
something. Functions heed no signals from where they write into a shared variable. An argument that
is given away may only not be changed by a call in which a check fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from symc.codegen.blocks import every_step, map_blocks
from symc.codegen.cost.amounts import NOTHING, Amount
from symc.codegen.cost.loops import work_of_block
from symc.codegen.cost.most import most
from symc.codegen.cost.work import Works
from symc.codegen.dtypes import FLOAT64
from symc.codegen.ir import (
    Branch,
    Buffer,
    Cast,
    Check,
    Const,
    Expr,
    If,
    Launch,
    Load,
    Measure,
    Pointer,
    Program,
    PythonCall,
    Repeat,
    Routine,
    Step,
    binary,
    const,
)
from symc.codegen.passes.kernels.memory import bytes_of, scratch_of
from symc.codegen.passes.steps.answered import Answers, turned_on
from symc.codegen.passes.steps.varying import changed_variables, has_varying_lengths
from symc.codegen.passes.walk import fresh, names_in, nodes, substitute
from symc.codegen.record import replace

MOMENTS = 1 << 28  # simple operations, for which signals wait: some tenths of a second
_LOG = 64.0  # no logarithm of a length is larger


def unbroken(program: Program) -> Program:
    """The program in which nothing ends a loop that writes into shared variables."""
    walk = _Unbroken(program)
    steps = walk.block(program.steps)
    if steps == program.steps:
        return program
    used = {step.kernel for step in every_step(steps) if isinstance(step, Launch)}
    return replace(
        program,
        buffers=(*program.buffers, *walk.answers.made, *walk.copies.values()),
        kernels=tuple(k for k in walk.answers.kernels.values() if k.name in used),
        steps=steps,
    )


class _Unbroken:
    """The walk over the steps of one program that are in no loop."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.answers = Answers(program)
        self.works = Works(program)
        self.copies: dict[Buffer, Buffer] = {}

    def block(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        """The steps with loops that nothing ends, or that write into copies."""
        found: list[Step] = []
        for step in steps:
            match step:
                case Repeat():
                    changed = changed_variables(self.program, step)
                    found += self.loop(step, changed) if changed else [step]
                case Branch(_, then, otherwise):
                    found.append(
                        replace(step, then=self.block(then), otherwise=self.block(otherwise))
                    )
                case _:
                    found.append(step)
        return tuple(found)

    def loop(self, loop: Repeat, changed: Sequence[Buffer]) -> list[Step]:
        """The steps in place of a loop that writes into some shared variables or arguments."""
        if all(buffer.given for buffer in changed) and not _checks(loop):
            return [loop]  # signals may end it
        work = None if _may_end(self.program, loop) else self.work(loop)
        if work is None:
            return self.on_copies(loop, changed)
        if not work.terms.keys() - {()}:
            few_always = work.terms.get((), 0.0) <= MOMENTS
            return [loop] if few_always else self.on_copies(loop, changed)
        few = self.answers.flag("few")
        test = If(binary("le", _number(work), Const(float(MOMENTS), FLOAT64)), (turned_on(few),))
        note = f"whether signals can wait: {loop.note}"
        launch = self.answers.launch(f"{loop.var}_few", [few], (test,), note)
        return [launch, Branch(few, (loop,), tuple(self.on_copies(loop, changed)))]

    # --- how long it takes ------------------------------------------------------------------------

    def work(self, loop: Repeat) -> Amount | None:
        """How many simple operations a loop does at most, in sizes that are known before it."""
        work = self._of_loop(loop, {})
        if work is None:
            return None
        factors = [factor.expr for term in work.terms for factor in term]
        loads = any(isinstance(node, Load) for expr in factors for node in nodes(expr))
        return None if loads else work

    def _of_loop(self, loop: Repeat, counts: Mapping[str, Expr]) -> Amount | None:
        extent = most(loop.extent, counts)
        if extent is None:
            return None
        each = self._of_steps(loop.steps, {**counts, loop.var: extent})
        if not isinstance(extent, Const):  # of fewer than 0 there are none
            extent = binary("max", extent, const(0))
        return None if each is None else Amount.of(extent) * each

    def _of_steps(self, steps: Sequence[Step], counts: Mapping[str, Expr]) -> Amount | None:
        total = NOTHING
        for step in steps:
            match step:
                case Repeat():
                    each = self._of_loop(step, counts)
                case Branch(_, then, otherwise):
                    each = self._of_steps((*then, *otherwise), counts)
                case Check() | Measure():
                    each = NOTHING
                case Launch(name, _, sizes):
                    kernel = self.answers.kernels[name]
                    given = {var.name: n for var, n in zip(kernel.sizes, sizes, strict=True)}
                    each = _amount(substitute(work_of_block(kernel.body, {}), given), counts)
                case Routine("copy_bytes", (*_, count)) if not isinstance(count, Pointer):
                    each = _amount(count, counts)
                case _:
                    each = self.works.of(step).operations
                    if each is not None and _has(each, counts):
                        each = None
            if each is None:
                return None
            total = total + each + 1.0
        return total

    # --- copies -----------------------------------------------------------------------------------

    def on_copies(self, loop: Repeat, changed: Sequence[Buffer]) -> list[Step]:
        """The loop over copies of shared variables, which it may leave half-changed."""
        names = self._copies(changed)
        pairs = [(buffer, self.copies[buffer]) for buffer in changed]
        before = [_copied(old, new) for old, new in pairs]
        after = [_copied(new, old) for old, new in pairs]
        inner = map_blocks(loop.steps, lambda steps: [self._renamed(s, names) for s in steps])
        return [*before, replace(loop, steps=inner), *after]

    def _copies(self, changed: Sequence[Buffer]) -> dict[str, str]:
        """The buffers in place of shared variables, and of rows of them."""
        names: dict[str, str] = {}
        for buffer in self.program.buffers:
            of = buffer.of
            if buffer not in changed and (of is None or of.buffer not in names):
                continue
            if buffer not in self.copies:
                name = fresh(f"{buffer.name}_kept", self.answers.taken)
                self.copies[buffer] = (
                    replace(buffer, name=name, role="temp", given=False)
                    if of is None
                    else replace(buffer, name=name, of=replace(of, buffer=names[of.buffer]))
                )
            names[buffer.name] = self.copies[buffer].name
        return names

    def _renamed(self, step: Step, names: dict[str, str]) -> Step:
        """A step with other buffers."""
        match step:
            case Launch(_, buffers):
                renamed = tuple([names.get(buffer, buffer) for buffer in buffers])
                return replace(self.answers.own(step), buffers=renamed)
            case Routine(args=args):
                return replace(step, args=tuple(_at(arg, names) for arg in args))
            case PythonCall():
                raise AssertionError("a call into Python may raise")
            case _:
                return step


def _copied(source: Buffer, target: Buffer) -> Routine:
    written = Pointer(target.name, const(0), written=True)
    return Routine("copy_bytes", (written, Pointer(source.name, const(0)), bytes_of(source)))


def _checks(loop: Repeat) -> bool:
    """Whether something in a loop may not hold."""
    return any(isinstance(step, Check) for step in every_step([loop]))


def _may_end(program: Program, loop: Repeat) -> bool:
    """Whether a step of a loop may end the call, or its loop.

    So may lengths that are known in the step only: they may be too long, and need memory there.
    """
    kernels = {kernel.name: kernel for kernel in program.kernels}
    counters = {step.var for step in every_step([loop]) if isinstance(step, Repeat)}
    for step in every_step([loop]):
        match step:
            case Check() | PythonCall() | Measure():
                return True
            case Launch(name, _, sizes) if any(counters & names_in(size) for size in sizes):
                if scratch_of(kernels[name]) is not None:
                    return True
            case Repeat(stop=stop, done=done):
                if stop is not None or done is not None:
                    return True
            case _:
                pass
    return has_varying_lengths(program, loop)


def _amount(expr: Expr, counts: Mapping[str, Expr]) -> Amount | None:
    """The most that an expression is, as an amount."""
    bound = most(expr, counts)
    return None if bound is None else Amount.of(bound)


def _has(work: Amount, counts: Mapping[str, Expr]) -> bool:
    """Whether an amount has a counter in it."""
    exprs = [factor.expr for term in work.terms for factor in term]
    return any(names_in(expr) & counts.keys() for expr in exprs)


def _at(arg: Pointer | Expr, names: dict[str, str]) -> Pointer | Expr:
    """An argument of a routine, in other buffers."""
    match arg:
        case Pointer(buffer):
            return replace(arg, buffer=names.get(buffer, buffer))
        case Load(buffer):
            return replace(arg, buffer=names.get(buffer, buffer))
        case _:
            return arg


def _number(work: Amount) -> Expr:
    """An amount as a number, which does not wrap as integers do."""
    total: Expr | None = None
    for factors, times in work.terms.items():
        term: Expr = Const(times, FLOAT64)
        for factor in factors:
            value = Const(_LOG, FLOAT64) if factor.log else Cast(factor.expr, FLOAT64)
            term = binary("mul", term, value)
        total = term if total is None else binary("add", total, term)
    return Const(0.0, FLOAT64) if total is None else total
