"""`pp`: a graph as a formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from symc.theano.gof.graph import Constant, Variable
from symc.theano.tensor.elemwise import DimShuffle, Elemwise


class PrinterState:
    """What a printer needs to know of where it prints: the precedence around it."""

    def __init__(self, pprinter: PPrinter, precedence: int = -1000, memo: Any = None) -> None:
        self.pprinter, self.precedence = pprinter, precedence
        self.memo: dict[Any, str] = {} if memo is None else memo

    def inside(self, precedence: int) -> PrinterState:
        """The state within something of a precedence."""
        return PrinterState(self.pprinter, precedence, self.memo)


def _bracketed(text: str, precedence: int, state: PrinterState) -> str:
    return f"({text})" if precedence <= state.precedence else text


class OperatorPrinter:
    """Operands with an operator between them, or in front of one."""

    def __init__(self, operator: str, precedence: int, assoc: str = "left") -> None:
        self.operator, self.precedence, self.assoc = operator, precedence, assoc

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        inputs = output.owner.inputs
        if len(inputs) == 1:
            inner = pstate.pprinter.process(inputs[0], pstate.inside(self.precedence))
            return f"{self.operator}{inner}"
        parts: list[str] = []
        for position, each in enumerate(inputs):
            tighter = (
                self.assoc == "none"
                or (self.assoc == "left" and position > 0)
                or (self.assoc == "right" and position < len(inputs) - 1)
            )
            inside = pstate.inside(self.precedence if tighter else self.precedence - 1)
            parts.append(pstate.pprinter.process(each, inside))
        return _bracketed(f" {self.operator} ".join(parts), self.precedence, pstate)


class FunctionPrinter:
    """A name with the operands in brackets."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        name = self.names[output.owner.outputs.index(output)]
        inside = pstate.inside(-1000)
        return (
            f"{name}({', '.join(pstate.pprinter.process(x, inside) for x in output.owner.inputs)})"
        )


class MemberPrinter:
    """An operand with the name of an attribute."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        inner = pstate.pprinter.process(output.owner.inputs[0], pstate.inside(1000))
        return f"{inner}.{self.names[output.owner.outputs.index(output)]}"


class IgnorePrinter:
    """The operand alone."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        return str(pstate.pprinter.process(output.owner.inputs[0], pstate))


class PatternPrinter:
    """A pattern with places for the operands: `%(0)s`."""

    def __init__(self, *patterns: Any) -> None:
        self.patterns = [(p, ()) if isinstance(p, str) else (p[0], p[1:]) for p in patterns]

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        pattern, precedences = self.patterns[output.owner.outputs.index(output)]
        given = dict(enumerate(precedences))
        return str(pattern % {
            str(i): pstate.pprinter.process(x, pstate.inside(given.get(i, 1000)))
            for i, x in enumerate(output.owner.inputs)
        })  # fmt: skip


class LeafPrinter:
    """A variable that nothing computes."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        return str(pstate.pprinter.leaf(output))


class PPrinter:
    """Chooses the printer of each variable."""

    def __init__(self) -> None:
        self.printers: list[tuple[Callable[..., Any], Any]] = []
        self.printers_dict: dict[Any, Any] = {}

    def assign(self, condition: Any, printer: Any) -> None:
        """Takes a printer for an op, for a class of ops, or where a condition holds."""
        if isinstance(condition, type):
            self.printers.insert(0, (lambda _, r: _has(r, condition), printer))
        elif callable(condition) and not hasattr(condition, "make_node"):
            self.printers.insert(0, (condition, printer))
        else:
            self.printers_dict[condition] = printer

    def leaf(self, r: Any) -> str:
        """The text of a variable that nothing computes."""
        if r.name is not None:
            return str(r.name)
        if isinstance(r, Constant):
            return str(np.asarray(r.data)) if hasattr(r.type, "dtype") else str(r.data)
        return str(r)

    def process(self, r: Any, pstate: PrinterState | None = None) -> str:
        """The text of a variable."""
        state = PrinterState(self) if pstate is None else pstate
        for condition, printer in self.printers:
            if condition(state, r):
                return str(printer.process(r, state))
        if r.owner is None:
            return self.leaf(r)
        printer = self.printers_dict.get(r.owner.op)
        if printer is None:
            printer = FunctionPrinter(*[_name(r.owner.op)] * len(r.owner.outputs))
        return str(printer.process(r, state))

    def __call__(self, *args: Any) -> Any:
        """The text of a variable; of several, their equations."""
        if len(args) == 1:
            return self.process(args[0])
        if len(args) == 2 and isinstance(args[1], PrinterState):
            return self.process(*args)
        raise TypeError("Not enough arguments to call.")

    def process_graph(self, inputs: Sequence[Any], outputs: Sequence[Any], **_: Any) -> str:
        """A line for each output."""
        del inputs
        return "\n".join(f"{each.name or 'output'} = {self.process(each)}" for each in outputs)


def _has(r: Variable, kind: type) -> bool:
    return r.owner is not None and isinstance(r.owner.op, kind)


def _name(op: Any) -> str:
    return op.scalar_op.name if isinstance(op, Elemwise) and op.scalar_op.name else str(op)


class DimShufflePrinter:
    """Transposes, and new axes as what they are."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        (x,), op = output.owner.inputs, output.owner.op
        if op.new_order == tuple(range(len(op.input_broadcastable)))[::-1]:
            return f"{pstate.pprinter.process(x, pstate.inside(1000))}.T"
        front = len(op.new_order) - len(op.shuffle)
        if op.new_order == ("x",) * front + tuple(range(len(op.shuffle))):
            return str(pstate.pprinter.process(x, pstate))
        order = ", ".join(map(str, op.new_order))
        return f"DimShuffle{{{order}}}({pstate.pprinter.process(x, pstate.inside(-1000))})"


class SubtensorPrinter:
    """An operand with its index."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        x, *values = output.owner.inputs
        inside = pstate.inside(-1000)
        index = output.owner.op.index([pstate.pprinter.process(each, inside) for each in values])
        return f"{pstate.pprinter.process(x, pstate.inside(1000))}[{', '.join(map(_slice, index))}]"


def _slice(entry: Any) -> str:
    if not isinstance(entry, slice):
        return str(entry)
    bounds = ["" if each is None else str(each) for each in (entry.start, entry.stop)]
    return ":".join([*bounds, *([] if entry.step is None else [str(entry.step)])])


class ReductionPrinter:
    """A reduction with its axes."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        op = output.owner.op
        inner = pstate.pprinter.process(output.owner.inputs[0], pstate.inside(-1000))
        name = type(op).__name__.lower()
        where = "" if op.axis is None else f", axis={op.axis}"
        return f"{name}({inner}{where})"


_OPERATORS = {
    "add": ("+", -2, "either"), "mul": ("*", -1, "either"), "sub": ("-", -2, "left"),
    "neg": ("-", 0, "either"), "true_div": ("/", -1, "left"), "int_div": ("//", -1, "left"),
    "pow": ("**", 1, "right"), "mod": ("%", -1, "left"), "lt": ("<", -3, "none"),
    "le": ("<=", -3, "none"), "gt": (">", -3, "none"), "ge": (">=", -3, "none"),
}  # fmt: skip


def _standard() -> PPrinter:
    from symc.theano.scalar.basic import SCALAR_OPS
    from symc.theano.tensor.products import Dot
    from symc.theano.tensor.reductions import CAReduce
    from symc.theano.tensor.subtensor import Subtensor

    made = PPrinter()
    for name, (operator, precedence, assoc) in _OPERATORS.items():
        printer = OperatorPrinter(operator, precedence, assoc)
        scalar = SCALAR_OPS[name]
        made.assign(
            lambda _, r, scalar=scalar: _has(r, Elemwise) and r.owner.op.scalar_op == scalar,
            printer,
        )
    made.assign(DimShuffle, DimShufflePrinter())
    made.assign(Subtensor, SubtensorPrinter())
    made.assign(CAReduce, ReductionPrinter())
    made.assign(Dot, OperatorPrinter("\\dot", -1, "left"))
    return made


pprint = _standard()


def pp(*args: Any) -> Any:
    """A graph as a formula."""
    return pprint(*args)
