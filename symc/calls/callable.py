"""A compiled function: the arguments of a call, and views of how it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, cast
from weakref import ref

from symc.calls.in_out import In, default_of
from symc.errors import BadArgument, SymcError
from symc.graph.inputs import SharedVariable
from symc.graph.locks import PythonLock
from symc.graph.packed import Packing
from symc.graph.public import with_public_methods
from symc.graph.registry import SERVICES
from symc.graph.request import Request
from symc.tensor.broadcast import describe

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    from symc.calls.modes import Runner, RunnerSource


if TYPE_CHECKING:
    from typing_extensions import TypeVar  # checkers know it, installed or not

    Result = TypeVar("Result", default=Any, covariant=True)
else:
    from typing import TypeVar

    Result = TypeVar("Result", covariant=True)


@with_public_methods
class Function(Generic[Result]):
    """A compiled function. Call it with arrays (or numbers, or lists), by position or by name.

    `source` is the generated C (and CUDA), `program` the loops as text, `graph` the rewritten
    expressions, `explain()` which nodes were fused and why, `seconds` the time each stage of
    compiling took, `hit` whether it came from the cache, `folder` where its files lie.

    To type checkers ``Function[list[np.ndarray]]`` is one that returns a list of arrays; that is
    what `symc.function` says, as far as its outputs tell.

    >>> import symc, symc.tensor as T
    >>> x = T.vector("x")
    >>> f = symc.function([x], [x + 1, (x * x).sum()], mode="python")
    >>> f([1.0, 2.0])
    [array([2., 3.]), array(5.)]
    >>> f(x=[3.0])
    [array([4.]), array(9.)]
    """

    def __init__(
        self,
        request: Request,
        ins: Sequence[In],
        form: str,
        keys: list[str],
        mode: str,
        *,
        background: bool = False,
        takes: Packing | None = None,
        gives: Packing | None = None,
    ) -> None:
        self.request = request
        self.ins = ins
        self.form = form
        self.keys = keys
        self.mode = mode
        self.background = background
        self.name = request.name
        self.takes = takes
        self.gives = gives
        # Where arguments are made of several arrays, no call passes them on as they are.
        self._count = len(ins) if takes is None else -1
        self._names = self._keyword_names()
        downcast = [item.allow_downcast for item in ins]
        wanted = request, mode, "list" if form == "dict" or gives else form, downcast
        # Only programs that have imported `symc.distributed` have functions of several processes.
        together = SERVICES.find("together")
        shared = None if together is None else together(*wanted, owner=ref(self))
        self._made: RunnerSource
        if shared is not None:
            self._made = shared
        elif background:
            from symc.calls.background import begin

            self._made = begin(*wanted, owner=ref(self))
        else:
            from symc.calls.modes import runner_for

            self._made = runner_for(*wanted)
        self._call: Callable[..., Any] = self._made.call
        self._lock = PythonLock() if request.updates and not self._made.locks else None
        self._plain = form != "dict" and self._lock is None and gives is None

    @property
    def runner(self) -> Runner:
        """How the function runs once it is compiled, which this waits for."""
        self.adopt(self._made.result())
        return self._made.result()

    def adopt(self, runner: Runner) -> None:
        """Run so from the next call on: what was compiled in the background is there."""
        self._made, self._call = runner, runner.call

    @property
    def compiled(self) -> bool:
        """Whether the next call runs the compiled program, and not the interpreter.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> f.compiled
        True
        """
        return self._made.is_compiled

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until a function with ``background=True`` is compiled, or for so many seconds.

        Returns `compiled`. Raises what compiling it has raised.

        >>> import symc, symc.tensor as T
        >>> x = T.vector("x")
        >>> f = symc.function([x], x + 1, background=True)
        >>> f.wait()
        True
        """
        if self._made.has_ended(timeout):
            self.adopt(self._made.result())
        return self.compiled

    def __reduce__(self) -> Any:
        return SERVICES["reduce_function"](self)

    @property
    def shared(self) -> tuple[SharedVariable, ...]:
        """The shared variables that the function reads or updates.

        >>> import symc
        >>> w = symc.shared(1.0, name="w")
        >>> symc.function([], updates={w: w * 2}, mode="python").shared
        (<w float64[]>,)
        """
        return self.request.shared

    def _keyword_names(self) -> dict[str, int]:
        names: dict[str, int] = {}
        for position, item in enumerate(self.ins):
            name = item.name or item.variable.name
            if name is not None and name not in names:
                names[name] = position
        return names

    def __call__(self, *args: Any, **kwargs: Any) -> Result:
        """Runs the function; see `symc.function` for its results.

        Raises `BadArgument`, `DTypeError`, `RankError` or `ShapeMismatch` for arguments that do not
        fit, the errors of the graph's run-time conditions, and `TooLarge` where there is not enough
        memory. Shared variables change only when the call succeeds.
        """
        if kwargs or len(args) != self._count:
            args = self._arguments(args, kwargs)
        try:
            if self._plain:
                return self._call(*args)  # type: ignore[no-any-return]  # it is the fastest way
            if self._lock is None:
                results = self._call(*args)
            else:
                self._lock.take(writes=True, nested=True)
                try:
                    results = self._call(*args)
                finally:
                    self._lock.release(writes=True)
        except (MemoryError, ValueError) as error:
            if isinstance(error, SymcError):
                raise
            from symc.calls.too_large import explained  # late: few calls fail

            raise explained(self.request, args, error) from None
        if self.gives is not None:
            results = self.gives.given(results)
            results = results[0] if self.form == "one" else results
        if self.form == "dict":
            results = dict(zip(self.keys, results, strict=True))
        return cast("Result", results)

    def arguments(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """All arguments of a call, those that have a default filled in."""
        return self._arguments(tuple(args), {}) if len(args) != self._count else tuple(args)

    def copy(
        self,
        swap: Mapping[SharedVariable, SharedVariable] | None = None,
        *,
        name: str | None = None,
        delete_updates: bool = False,
    ) -> Function[Result]:
        """The same function of other shared variables: those in `swap`, by the one they replace.

        Shared variables that are not swapped belong to both functions. With `delete_updates` the
        copy changes none. Raises `FunctionError` for a variable that the function does not have, or
        a replacement of another dtype or number of axes, and `BadUpdate` if two updates would be of
        one variable.

        >>> import symc, symc.tensor as T
        >>> total, other, x = symc.shared(0.0), symc.shared(10.0), T.scalar("x")
        >>> add = symc.function([x], updates={total: total + x})
        >>> add.copy(swap={total: other})(1.0)
        >>> total.get_value(), other.get_value()
        (array(0.), array(11.))
        """
        copied: Function[Result] = SERVICES["copied"](self, swap or {}, name, delete_updates)
        return copied

    def export(self, folder: str | PathLike[str], example: Sequence[Any] | None = None) -> Path:
        """Writes the function as a library in C, CUDA or OpenCL: see `symc.saved.export.export`.

        >>> import tempfile
        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> folder = f.export(tempfile.mkdtemp())
        >>> sorted(path.name for path in folder.glob("*.h"))
        ['call.h', 'function.h']
        """
        made: Path = SERVICES["export"](self, folder, example)
        return made

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        most = len(self.ins if self.takes is None else self.takes.kinds)
        if len(args) > most:
            count = f"{most} argument{'' if most == 1 else 's'}"
            raise BadArgument(f"{self.name} takes {count}, not {len(args)}")
        if self.takes is not None:
            parts = [item.name or item.variable.name for item in self.ins]
            args, kwargs = self.takes.spread(args, kwargs, parts)
        missing = object()
        values = [*args, *[missing] * (len(self.ins) - len(args))]
        for name, value in kwargs.items():
            if name not in self._names:
                known = ", ".join(self._names) or "none"
                raise BadArgument(f"{self.name} has no input named {name!r}; it has {known}")
            if values[self._names[name]] is not missing:
                raise BadArgument(f"{self.name}: the input {name!r} was given twice")
            values[self._names[name]] = value
        for position, item in enumerate(self.ins):
            if values[position] is missing:
                if item.value is None:
                    raise BadArgument(
                        f"{self.name}: missing input {position}\n  input  {describe(item.variable)}"
                    )
                values[position] = default_of(item)
        return tuple(values)

    def __dir__(self) -> list[str]:
        inner = ("adopt", "arguments", "background", "form", "keys", "request", "runner")
        return [name for name in super().__dir__() if name not in inner]

    def __getattr__(self, name: str) -> NoReturn:
        from symc.graph.other_libraries import instead  # late: only for errors

        advice = instead("function", name, dir(type(self)))
        raise AttributeError(f"a function has no attribute {name!r}{advice}", obj=None)

    def __repr__(self) -> str:
        names = ", ".join(item.variable.name or "?" for item in self.ins)
        return f"<symc function {self.name}({names}), mode {self.mode!r}>"

    @property
    def source(self) -> str:
        """The generated C, and on a device after it the kernels in CUDA or OpenCL C, as text.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> "out[i] = x[i] * 2.0" in f.source
        True
        """
        return self.runner.compilation().source.text

    @property
    def program(self) -> str:
        """The loops, printed in the grammar of `codegen/ir.py`.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> "out[i] = x[i]*2.0" in f.program
        True
        """
        from symc.codegen.text import text

        return text(self.runner.compilation().optimised)

    @property
    def graph(self) -> str:
        """The rewritten graph, a line for each node.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> "mul(%0, 2.0)" in f.graph
        True
        """
        text: str = SERVICES["dprint_text"](self.runner.compilation().rewritten)
        return text

    def explain(self) -> str:
        """Which nodes are stored or share loops, and why; bytes and operations of each kernel.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> "reads 8*x_0 bytes, writes 8*x_0" in f.explain()
        True
        """
        text: str = SERVICES["explain"](self.runner.compilation())
        return text

    def assembly(self) -> str:
        """The machine code of the compiled function; above each kernel the nodes it computes.

        Raises TypeError for a function that is not compiled for the CPU, and `CompilerMissing`
        where no tool can show it.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> "ret" in f.assembly()
        True
        """
        from symc.codegen.targets.assembly import assembly, on_device

        if self.folder is None:
            raise TypeError(f"{self!r} has no machine code: the interpreter runs it")
        if self.device != "cpu":
            raise TypeError(f"{self!r} is compiled for {self.device}; {on_device(self.device)}")
        kernels = self.runner.compilation().optimised.kernels
        notes = {kernel.name: kernel.note for kernel in kernels}
        return assembly(self.folder, notes, quick=self.mode == "compile")

    def report(self, path: str | PathLike[str], example: Sequence[Any] | None = None) -> Path:
        """Writes a page about the function, for a browser; see `symc.show.report.page.report`.

        >>> import pathlib, tempfile
        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> page = f.report(pathlib.Path(tempfile.mkdtemp(), "double.html"))
        >>> page.read_text()[:15]
        '<!doctype html>'
        """
        page: Path = SERVICES["report"](self, path, example)
        return page

    def _repr_html_(self) -> str:
        text: str = SERVICES["summary"](self)
        return text

    @property
    def seconds(self) -> dict[str, float]:
        """How long each stage of making this function took, in seconds.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> all(seconds >= 0 for seconds in f.seconds.values())
        True
        """
        return self.runner.seconds

    @property
    def facts(self) -> dict[str, int]:
        """Nodes before and after rewriting, number of kernels, and the like.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> f.facts["kernels"]
        1
        """
        return self.runner.facts

    @property
    def hit(self) -> bool:
        """Whether the function came from the cache.

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> again = symc.function([x], x * 2)
        >>> again.hit
        True
        """
        return self.runner.hit

    @property
    def device(self) -> str:
        """Where the function runs: "cpu", "cuda:0", "cuda:sim" ...

        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> f.device
        'cpu'
        """
        return self.request.device

    def ptx(self) -> str:
        """The kernels of a function on a CUDA device as PTX; see `symc.cuda.inspect`.

        >>> print(f.ptx())  # doctest: +SKIP
        .visible .entry mul_kernel(
        ...
        """
        text: str = SERVICES["ptx"](self)
        return text

    def sass(self) -> str:
        """The kernels in the device's machine code, where CUDA's tools are installed.

        >>> print(f.sass())  # doctest: +SKIP
        .text.mul_kernel:
        ...
        """
        text: str = SERVICES["sass"](self)
        return text

    @property
    def resources(self) -> dict[str, dict[str, int]]:
        """The resources of each kernel on a CUDA device: registers, shared memory, spills.

        >>> f.resources["mul_kernel"]["registers"]  # doctest: +SKIP
        16
        """
        found: dict[str, dict[str, int]] = SERVICES["resources"](self)
        return found

    @property
    def folder(self) -> str | None:
        """The folder with the generated source and the library; None in the interpreter.

        >>> import pathlib
        >>> import symc, symc.tensor as T
        >>> f = symc.function([x := T.vector("x")], x * 2)
        >>> pathlib.Path(f.folder, "function.c").exists()
        True
        """
        return self.runner.folder


def compiled_function(value: object, asker: str) -> None:
    """Raises TypeError for a function that `symc.function` has not made."""
    if not isinstance(value, Function):
        raise TypeError(f"{asker} needs a function that symc.function has made, not {value!r:.80}")
