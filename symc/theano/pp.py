"""`pp`: a graph as a formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symc.theano.gof.graph import io_toposort
from symc.theano.gof.op import Op
from symc.theano.tensor.elemwise import DimShuffle, Elemwise


class PrinterState:
    """What a printer needs to know of where it prints: the precedence around it."""

    def __init__(self, pprinter: PPrinter, precedence: int = -1000, memo: Any = None) -> None:
        self.pprinter, self.precedence = pprinter, precedence
        self.memo: dict[Any, str] = {} if memo is None else memo

    def inside(self, precedence: int) -> PrinterState:
        """The state within something of a precedence."""
        return PrinterState(self.pprinter, precedence, self.memo)


def _inputs(output: Any, state: PrinterState, precedence: int = -1000) -> list[str]:
    """The texts of what a variable is computed from."""
    inside = state.inside(precedence)
    return [str(state.pprinter.process(each, inside)) for each in output.owner.inputs]


class OperatorPrinter:
    """Operands with an operator between them, or in front of one; always in brackets."""

    def __init__(self, operator: str, precedence: int, assoc: str = "left") -> None:
        self.operator, self.precedence, self.assoc = operator, precedence, assoc

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        parts = _inputs(output, pstate, self.precedence)
        inner = self.operator + parts[0] if len(parts) == 1 else f" {self.operator} ".join(parts)
        return f"({inner})"


class FunctionPrinter:
    """A name with the operands in brackets."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        name = self.names[output.owner.outputs.index(output)]
        return f"{name}({', '.join(_inputs(output, pstate))})"


class MemberPrinter:
    """An operand with the name of an attribute."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        name = self.names[output.owner.outputs.index(output)]
        return f"{_inputs(output, pstate, 1000)[0]}.{name}"


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


_GREEK = ("alpha", "beta", "gamma", "delta", "epsilon")


class LeafPrinter:
    """A variable that nothing computes: as it is, Greek letters as LaTeX has them."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        del pstate
        return f"\\{output.name}" if output.name in _GREEK else str(output)


class DefaultPrinter:
    """An op with the operands in brackets."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        if output.owner is None:
            return leaf_printer.process(output, pstate)
        return f"{_name(output.owner.op)}({', '.join(_inputs(output, pstate))})"


leaf_printer, default_printer = LeafPrinter(), DefaultPrinter()


class PPrinter:
    """Chooses the printer of each variable."""

    def __init__(self) -> None:
        self.printers: list[tuple[Callable[..., Any], Any]] = []
        self.printers_dict: dict[Any, Any] = {}

    def assign(self, condition: Any, printer: Any) -> None:
        """Takes a printer for an op, for a class of ops, or where a condition holds."""
        if isinstance(condition, type | Op):
            self.printers_dict[condition] = printer
        else:
            self.printers.insert(0, (condition, printer))

    def process(self, r: Any, pstate: Any = None) -> str:
        """The text of a variable."""
        if pstate is None or isinstance(pstate, dict):
            pstate = PrinterState(self, **(pstate or {}))
        printer: Any = None
        if r.owner is not None:
            op = r.owner.op
            printer = self.printers_dict.get(op) or self.printers_dict.get(type(op))
        if printer is None:
            found = (own for condition, own in self.printers if condition(pstate, r))
            printer = next(found, default_printer)
        return str(printer.process(r, pstate))

    def clone(self) -> PPrinter:
        """One with the same printers."""
        made = PPrinter()
        made.printers, made.printers_dict = list(self.printers), dict(self.printers_dict)
        return made

    def clone_assign(self, condition: Any, printer: Any) -> PPrinter:
        """One with a printer more."""
        made = self.clone()
        made.assign(condition, printer)
        return made

    def __call__(self, *args: Any) -> Any:
        """The text of a variable; of several, their equations."""
        if len(args) == 1 or (len(args) == 2 and isinstance(args[1], PrinterState | dict)):
            return self.process(*args)
        if len(args) > 2:
            return self.process_graph(*args)
        raise TypeError("Not enough arguments to call.")

    def process_graph(self, inputs: Any, outputs: Any, *_: Any, **__: Any) -> str:
        """A line for each variable with a name, and for each output."""
        ins, outs = (
            list(each) if isinstance(each, list | tuple) else [each] for each in (inputs, outputs)
        )
        current: list[Any] = [None]
        named = self.clone_assign(
            lambda _, r: r.name is not None and r is not current[0], leaf_printer
        )
        lines: list[str] = []
        last: dict[int, str] = {}
        for node in io_toposort(ins, outs):
            for each in node.outputs:
                if each.name is None and each not in outs:
                    continue
                current[0] = each
                text = named.process(each)
                if each not in outs:
                    lines.append(f"{each.name} = {text}")
                    continue
                place = outs.index(each)
                name = each.name or f"out[{place}]"
                last[place] = f"return {text}" if outs == [each] else f"{name} = {text}"
        return "\n".join([*lines, *(last[place] for place in sorted(last))])


def _name(op: Any) -> str:
    if not isinstance(op, Elemwise) or not op.scalar_op.name:
        return str(op)
    if op.inplace_pattern:
        return f"{op.scalar_op.name}="
    name = op.scalar_op.name.removeprefix("Cast{").removesuffix("}")
    return "fill" if name == "second" else name


class DimShufflePrinter:
    """Transposes, and new axes as what they are."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        (x,), order = output.owner.inputs, list(output.owner.op.new_order)
        while order and order[0] == "x":
            order.pop(0)
        inner = pstate.pprinter.process(x)
        if order == list(range(x.type.ndim)):
            return inner
        if order == list(range(x.type.ndim))[::-1]:
            return f"{inner}.T"
        return f"DimShuffle{{{', '.join(map(str, order))}}}({inner})"


class SubtensorPrinter:
    """An operand with its index; bounds of slices by their types."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        x, *values = output.owner.inputs
        rest = iter(values)
        parts: list[str] = []
        for entry in output.owner.op.idx_list:
            if isinstance(entry, slice):
                bounds = (entry.start, entry.stop, entry.step)
                for _ in (bound for bound in bounds if bound is not None):
                    next(rest)
                start, stop, step = ("" if bound is None else str(bound) for bound in bounds)
                parts.append(f"{start}:{stop}" + (f":{step}" if step else ""))
            else:
                parts.append(pstate.pprinter.process(next(rest)))
        return f"{pstate.pprinter.process(x, pstate.inside(1000))}[{', '.join(parts)}]"


class MakeVectorPrinter:
    """Numbers in square brackets."""

    def process(self, output: Any, pstate: PrinterState) -> str:
        """The text of a variable."""
        return f"[{', '.join(_inputs(output, pstate, 1000))}]"


_OPERATORS = {
    "add": ("+", -2, "either"), "mul": ("*", -1, "either"), "sub": ("-", -2, "left"),
    "neg": ("-", 0, "either"), "true_div": ("/", -1, "left"), "int_div": ("//", -1, "left"),
    "pow": ("**", 1, "right"),
}  # fmt: skip


def _standard() -> PPrinter:
    from symc.theano.scalar.basic import SCALAR_OPS
    from symc.theano.tensor import inplace
    from symc.theano.tensor.creation import Alloc
    from symc.theano.tensor.joining import Join, MakeVector
    from symc.theano.tensor.products import Dot
    from symc.theano.tensor.subtensor import Subtensor

    made = PPrinter()
    for name, (operator, precedence, assoc) in _OPERATORS.items():
        made.assign(Elemwise(SCALAR_OPS[name]), OperatorPrinter(operator, precedence, assoc))
        overwriting = getattr(inplace, f"{name}_inplace")
        made.assign(overwriting, OperatorPrinter(f"{operator}=", precedence, assoc))
    made.assign(Elemwise(SCALAR_OPS["abs_"]), PatternPrinter(("|%(0)s|", -1000)))
    made.assign(Elemwise(SCALAR_OPS["identity"]), IgnorePrinter())
    made.assign(DimShuffle, DimShufflePrinter())
    made.assign(Subtensor, SubtensorPrinter())
    made.assign(MakeVector, MakeVectorPrinter())
    made.assign(Alloc, FunctionPrinter("alloc"))
    made.assign(Join, FunctionPrinter("join"))
    made.assign(Dot, OperatorPrinter("\\dot", -1, "left"))
    return made


pprint = _standard()


def pp(*args: Any) -> Any:
    """A graph as a formula."""
    return pprint(*args)
