"""`symc.c_op` and `symc.c_function`: functions from users' own C files as ops."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from symc.codegen import ir
from symc.codegen.dtypes import INT64, DType
from symc.codegen.foreign import Foreign, Passing, declare
from symc.codegen.record import record
from symc.graph.dims import Dim
from symc.graph.lowering import Argument, LibCall, Lowering, SizeOf
from symc.graph.node import Array, Tensor
from symc.tensor.elementwise import Elementwise, common
from symc.tensor.elementwise import call as calls
from symc.tensor.rows import Partial
from symc.user.declared import Declared, Rule
from symc.user.spec import Length, Spec, as_spec, bind, names_of, value_of

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.M)


def c_op(
    file: str | Path,
    call: str,
    *,
    inputs: Mapping[str, Any],
    output: Mapping[str, Any],
    grad: Rule | None = None,
) -> Declared:
    r"""Makes an op of a function in a C file, which fills arrays.

    `call` is the call as C has it: ``"smooth(x, n, width, y)"``. `inputs` and `output` have the
    types of the arrays in it, such as ``{"x": "float64[n]", "width": "int64"}`` and
    ``{"y": "float64[n]"}``. Arrays are passed as pointers, inputs without axes by value, names of
    lengths and arithmetic on them as ``int64_t``. Arrays are contiguous; those of results are
    uninitialised. The function may be called by several threads at once.

    The file is compiled and linked with each program that uses it; the cache knows it by its text
    and that of the files beside it which it includes. The compiler checks that the function has
    the type that follows, and its errors name the file's lines. `grad` is as in `symc.op`; where
    there are several results, their order is that of `output`.

        void smooth(const double *x, int64_t n, int64_t width, double *y) { ... }

        smooth = symc.c_op("smooth.c", "smooth(x, n, width, y)", output={"y": "float64[n]"},
                           inputs={"x": "float64[n]", "width": "int64"})

    >>> import symc
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "last.c")
    >>> _ = file.write_text(
    ...     "#include <stdint.h>\n"
    ...     "void last(const double *x, int64_t n, double *y) { y[0] = x[n - 1]; }\n"
    ... )
    >>> types = {"inputs": {"x": "float64[n]"}, "output": {"y": "float64[1]"}}
    >>> last = symc.c_op(file, "last(x, n, y)", **types)
    >>> last([1.0, 2.0, 3.0]).eval()
    array([3.])
    """
    if inputs.keys() & output.keys():
        raise ValueError(f"c_op: {min(inputs.keys() & output.keys())!r} is an input and an output")
    specs = {name: as_spec(value) for name, value in [*inputs.items(), *output.items()]}
    symbol, parameters = _parsed(call)
    passed = [_parameter(call, item, specs, len(inputs)) for item in parameters]
    missing = [n for n in output if not any(p.is_name(n) for p in passed)]
    if missing:
        raise ValueError(f"c_op: {call!r} does not pass the result {missing[0]!r}")
    path = Path(file).resolve()
    arguments: tuple[tuple[DType, Passing], ...] = tuple(
        (item.dtype, item.passing) for item in passed
    )
    foreign = Foreign(symbol, str(path), text_of(path), arguments, None)
    return COp(foreign, passed, [specs[n] for n in inputs], tuple(specs[n] for n in output), grad)


def c_function(
    file: str | Path,
    name: str,
    *,
    arguments: int = 1,
    dtype: Any = "float64",
    grad: Sequence[Callable[..., Any] | None] | Callable[..., Any] = (),
) -> Callable[..., Tensor]:
    """Makes an elementwise function of one in a C file, of numbers: it becomes part of loops.

    The C function takes as many `arguments` and gives a result, all ``double``, or ``float`` with
    ``dtype="float32"``. The result broadcasts like any elementwise function. `grad` has
    for each argument a function from the result's gradient and the arguments to that of the
    argument, as ``lambda bar, x: bar * ...``; one alone stands for a list.

        double wave(double x, double a) { return sin(a * x); }

        wave = symc.c_function("wave.c", "wave", arguments=2)

    >>> import symc
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "twice.c")
    >>> _ = file.write_text("double twice(double x) { return 2 * x; }")
    >>> twice = symc.c_function(file, "twice", grad=lambda bar, x: 2 * bar)
    >>> twice([1.0, 2.0]).eval()
    array([2., 4.])
    """
    path = Path(file).resolve()
    kind = as_spec(dtype).dtype
    if not kind.is_float or kind.bits < 32:
        raise ValueError(f"c_function: dtype must be float32 or float64, not {kind}")
    passed: list[tuple[DType, Passing]] = [(kind, "value") for _ in range(arguments)]
    foreign = Foreign(name, str(path), text_of(path), tuple(passed), kind)
    rules = [grad] if callable(grad) else list(grad)
    if rules and len(rules) != arguments:
        raise ValueError(f"c_function: {name} has {arguments} arguments, grad {len(rules)} rules")
    op = _elementwise(foreign, [_partial(rule) for rule in rules] or [None] * arguments)

    def function(*args: Any) -> Tensor:
        if len(args) != arguments:
            raise TypeError(f"{name} takes {arguments} arguments, not {len(args)}")
        return op(*[arg.astype(kind) for arg in common(args, "float", name)])

    function.__name__ = function.__qualname__ = name
    return function


def _partial(rule: Callable[..., Any] | None) -> Partial | None:
    if rule is None:
        return None

    def partial(bar: Tensor, *args_and_result: Tensor) -> Tensor | None:
        return cast("Tensor | None", rule(bar, *args_and_result[:-1]))

    return partial


@record(eq=False)
class CFunction(Elementwise):
    """An elementwise function from a user's C file."""

    @property
    def label(self) -> str:
        return self.name.rpartition("_")[0]


def _elementwise(foreign: Foreign, partials: Sequence[Partial | None]) -> CFunction:
    name = declare(foreign)

    def numpy(*arrays: Array) -> Any:
        return compiled(op, tuple((array.dtype.name, array.ndim) for array in arrays))(*arrays)

    op = CFunction(name, numpy, calls(name), "float", tuple(partials), cost=20)
    return op


@cache
def compiled(op: Any, kinds: tuple[tuple[str, int], ...]) -> Callable[..., Any]:
    """A program that computes an op (or all results of a user's) on arrays of these kinds."""
    from symc import tensor as T
    from symc.calls.function import Outputs, function

    xs = [T.tensor(dtype, (None,) * ndim) for dtype, ndim in kinds]
    results: Outputs = op(*xs)
    return function(xs, results, mode="compile", device="cpu", name=f"only_{op.name}")


# --- functions on arrays --------------------------------------------------------------------------


@record
class Parameter:
    """The value of one parameter of the C function: an array by number, or a length."""

    name: str
    number: int | None
    length: Length
    dtype: DType
    passing: Passing

    def is_name(self, name: str) -> bool:
        """Whether it is the array of a name."""
        return self.number is not None and self.name == name


def _parsed(call: str) -> tuple[str, list[ast.expr]]:
    try:
        tree = ast.parse(call, mode="eval").body
    except SyntaxError:
        tree = None
    match tree:
        case ast.Call(func=ast.Name(id=symbol), args=parameters, keywords=[]):
            return symbol, parameters
        case _:
            raise ValueError(f'c_op: a call is written like "f(x, n, y)", not {call!r}')


def _parameter(call: str, item: ast.expr, specs: Mapping[str, Spec], inputs: int) -> Parameter:
    text = ast.unparse(item)
    if text in specs:
        spec, place = specs[text], list(specs).index(text)
        if place >= inputs:
            return Parameter(text, inputs - place - 1, None, spec.dtype, "write")
        return Parameter(text, place, None, spec.dtype, "read" if spec.lengths else "value")
    (length,) = as_spec(f"int64[{text}]").lengths
    known = {n for spec in specs.values() for each in spec.lengths for n in names_of(each)}
    unknown = sorted(set(names_of(length)) - known)
    if unknown or length is None:
        raise ValueError(f"c_op: {unknown or text} in {call!r} is neither an array nor a length")
    return Parameter(text, None, length, INT64, "value")


class COp(Declared):
    """A function in C on arrays as an op."""

    def __init__(
        self,
        foreign: Foreign,
        passed: Sequence[Parameter],
        inputs: Sequence[Spec],
        outputs: Sequence[Spec],
        rule: Rule | None,
    ) -> None:
        super().__init__(
            foreign.symbol, inputs, outputs, single=len(outputs) == 1, count=len(outputs), rule=rule
        )
        self.routine = declare(foreign)
        self.passed = passed

    @property
    def identity(self) -> str:
        shown = [f"{item.name} {item.number} {item.length}" for item in self.passed]
        return f"{self.routine} {self.inputs} {self.outputs} {shown}"

    def compute(self, *arrays: Array) -> Sequence[Any]:
        kinds = tuple((array.dtype.name, array.ndim) for array in arrays)
        found = compiled(self, kinds)(*arrays)
        return (found,) if self.single else found

    def lower(self, node: Tensor, size: SizeOf) -> Lowering:
        assert self.inputs is not None
        names = bind(self.inputs, [arg.type.shape for arg in node.args]).names
        args: list[Argument | ir.Expr] = []
        for item in self.passed:
            if item.number is not None:
                args.append(Argument(item.number, by_value=item.passing == "value"))
            else:
                length: Dim = value_of(item.length, names)
                args.append(size(length))
        return LibCall(self.routine, tuple(args), self.parts)


def text_of(path: Path) -> str:
    """A file's text, and after it digests of the files beside it that it includes."""
    text = path.read_text(encoding="utf-8")
    seen: dict[Path, str] = {}
    pending = [(path, text)]
    while pending:
        place, inside = pending.pop()
        for name in _INCLUDE.findall(inside):
            found = (place.parent / name).resolve()
            if found.is_file() and found not in seen:
                seen[found] = found.read_text(encoding="utf-8")
                pending.append((found, seen[found]))
    lines = [
        f"// {found.name} {hashlib.sha256(inside.encode()).hexdigest()}"
        for found, inside in sorted(seen.items())
    ]
    return "\n".join([text, *lines])
