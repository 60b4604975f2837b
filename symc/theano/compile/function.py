"""`theano.function`, and the objects that it returns."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from symc.codegen.record import replace
from symc.errors import ShapeMismatch
from symc.graph.provenance import user_line
from symc.theano import lenient
from symc.theano.compile.borrowed_outputs import BorrowedOutputs, keeps_memory
from symc.theano.compile.definition import Definition, compiled, defined, translated
from symc.theano.compile.inferred import as_compiled, written_in_place
from symc.theano.compile.io import Out
from symc.theano.compile.mode import get_mode
from symc.theano.compile.overwriting import check_in_place, with_overwrites
from symc.theano.compile.rebuild import of_target, substituted
from symc.theano.compile.rewriting import rewritten
from symc.theano.compile.sharedvalue import Container, SharedVariable
from symc.theano.compile.stored_run import StoredRun
from symc.theano.compile.vm import PythonProgram
from symc.theano.configparser import config
from symc.theano.gof.fg import FunctionGraph
from symc.theano.gof.graph import Variable
from symc.theano.gof.type import Generic

_AMBIGUOUS = object()


class Finder(Mapping[Any, Any]):
    """The containers of a function's inputs, by variable, name or position."""

    def __init__(self, ins: Sequence[Any], containers: Sequence[Container]) -> None:
        self.containers: dict[Any, Any] = {}
        for position, (each, container) in enumerate(zip(ins, containers, strict=True)):
            self.containers[position] = container
            self.containers[each.variable] = container
            if each.name is not None:
                taken = each.name in self.containers
                self.containers[each.name] = _AMBIGUOUS if taken else container

    def __getitem__(self, item: Any) -> Any:
        try:
            found = self.containers[item]
        except KeyError:
            raise TypeError(f"Unknown input or state: {item}") from None
        if found is _AMBIGUOUS:
            raise TypeError(
                f"Ambiguous name: {item} - please check the names of the inputs of your function "
                "for duplicates."
            )
        return found

    def __contains__(self, item: object) -> bool:
        return item in self.containers

    def __iter__(self) -> Iterator[Any]:
        return iter(self.containers)

    def __len__(self) -> int:
        return len(self.containers)


class Values:
    """The values of a function's inputs: ``f.value[x]``."""

    def __init__(self, finder: Finder) -> None:
        self.finder = finder

    def __getitem__(self, item: Any) -> Any:
        return self.finder[item].data

    def __setitem__(self, item: Any, value: Any) -> None:
        self.finder[item].data = value

    def __contains__(self, item: object) -> bool:
        return item in self.finder


class Function:
    """A compiled function. Call it with values, by position or by name."""

    profile: Any = None  # the times of its calls, where they are wanted

    def __init__(self, made: Definition, containers: Sequence[Container] | None = None) -> None:
        self.definition = made
        # Whether lengths may differ at run time, and the program for those that do.
        self.varies = False
        self._lenient: Any = None
        try:
            self.symc_function = compiled(made)
        except ShapeMismatch:  # of lengths that are known, such as those of axes that broadcast
            self.symc_function, self.varies = self._of_varying_lengths(), True
        self.name = made.name or str(user_line())
        self.trust_input = False
        kept = [_container(each) for each in made.ins] if containers is None else containers
        self.input_storage: list[Any] = list(kept)
        self.finder = Finder(made.ins, self.input_storage)
        self.value = Values(self.finder)
        self.output_storage = [Container(each.type, [None]) for each in made.outputs]
        self.defaults = [_default(each) for each in made.ins]
        self._count = len(made.ins)
        self._plain = not made.states and all(
            required and not each.implicit
            for each, (required, _, _) in zip(made.ins, self.defaults, strict=True)
        )
        self._filters = [
            (each.variable.type, each.strict, each.allow_downcast) for each in made.ins
        ]
        self._types = [each.type for each in made.outputs]
        self._decodes = any(type(kind).decoded is not _decoded() for kind in self._types)
        keeps = bool(made.borrowed) and keeps_memory(get_mode(made.mode))
        self._borrowed = BorrowedOutputs(made.borrowed) if keeps else None

    # --- calls ------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the function: returns its outputs and updates its shared variables."""
        subset = kwargs.pop("output_subset", None)
        if not self._plain or kwargs or len(args) != self._count:
            values = self._gathered(args, kwargs)
        elif self.trust_input:
            values = list(args)
        else:
            values = [self._filtered(position, value) for position, value in enumerate(args)]
        return self._returned(self._results(values), subset)

    def _results(self, values: list[Any]) -> Any:
        """The outputs for values of all inputs, as symc takes them; states and updates follow."""
        try:
            results = self.symc_function(*values)
        except ShapeMismatch as error:
            results = self._with_lengths_that_vary(values, error)
        made = self.definition
        if made.states or made.overwrites:
            results = self._stored(values, results)
        if self._decodes:
            results = [kind.decoded(each) for kind, each in zip(self._types, results, strict=True)]
        return results if self._borrowed is None else self._borrowed.overwritten(results)

    def run_stored(self) -> Any:
        """The outputs, as a list, for the values that `input_storage` has."""
        return list(self._results(self._gathered((), {})))

    def _stored(self, values: list[Any], results: Sequence[Any]) -> Any:
        """The outputs among the results, once states and overwritten arguments have theirs."""
        made, rest = self.definition, iter(results[len(self.definition.outputs) :])
        states = [(position, next(rest)) for position, _ in made.states]
        for (position, _), new in zip(made.overwrites, rest, strict=True):
            self._filters[position][0].overwrite(values[position], new)
        for position, new in states:
            self.input_storage[position].data = self._filters[position][0].decoded(new)
        return results[: len(made.outputs)]

    def _with_lengths_that_vary(self, values: list[Any], error: ShapeMismatch) -> Any:
        """Compiles for lengths that differ at run time, where an op allows them."""
        if self.varies:
            raise error
        if self._lenient is None:
            self._lenient = self._of_varying_lengths()
        try:  # where this fails, too, the next call begins anew
            results = self._lenient(*values)
        except ShapeMismatch as other:
            if str(other).splitlines()[0] != str(error).splitlines()[0]:
                raise
            raise error from None  # it has the names of the program's own graph
        self.symc_function, self.varies = self._lenient, True
        return results

    def _of_varying_lengths(self) -> Any:
        with lenient.varying():
            return compiled(self.definition)

    def _returned(self, results: list[Any], subset: Any) -> Any:
        form, keys = self.definition.form, self.definition.keys
        if form == "one":
            return results[0]
        if form == "none":
            return None
        if form == "dict":
            found = dict(zip(keys, results, strict=True))
            return found if subset is None else {key: found[key] for key in subset}
        return results if subset is None else [results[position] for position in subset]

    def _filtered(self, position: int, value: Any) -> Any:
        kind, strict, downcast = self._filters[position]
        if value is None and not isinstance(kind, Generic):
            raise TypeError(f"Missing required input: {self.definition.ins[position].variable}")
        try:
            return kind.encoded(kind.filter(value, strict=strict, allow_downcast=downcast))
        except Exception as error:
            _explain(error, self, position)
            raise

    def _gathered(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The values of all inputs: those given, defaults, and states."""
        if len(args) > self._count:
            raise TypeError("Too many parameter passed to theano function")
        given: dict[int, Any] = dict(enumerate(args))
        for name, value in kwargs.items():
            container = self.finder[name]
            position = next(i for i, c in enumerate(self.input_storage) if c is container)
            if position in given:
                raise TypeError(f"Multiple values for input: {self._name_of(position)}")
            given[position] = value
        values: list[Any] = []
        for position, each in enumerate(self.definition.ins):
            required = self.defaults[position][0]
            if position in given and each.implicit:
                raise TypeError(f"Tried to provide value for implicit input: {each.variable}")
            if position in given:
                values.append(self._filtered(position, given[position]))
            elif required and self.input_storage[position].data is None:
                raise TypeError(f"Missing required input: {self._name_of(position)}")
            else:
                values.append(each.variable.type.encoded(self.input_storage[position].data))
        return values

    def _name_of(self, position: int) -> Any:
        each = self.definition.ins[position]
        return each.name or each.variable

    @property
    def outputs(self) -> list[Out]:
        """The outputs, as programs look them up."""
        return [Out(each) for each in self.definition.outputs]

    # --- values by name ---------------------------------------------------------------------------

    def __getitem__(self, item: Any) -> Any:
        return self.value[item]

    def __setitem__(self, item: Any, value: Any) -> None:
        self.value[item] = value

    def __contains__(self, item: object) -> bool:
        return item in self.finder

    @property
    def container(self) -> Finder:
        """The containers of the inputs."""
        return self.finder

    # --- its parts --------------------------------------------------------------------------------

    @property
    def maker(self) -> Any:
        """Attributes of Theano's maker for programs: `fgraph`, `mode`, `inputs`, `outputs`."""
        if "_maker" not in self.__dict__:
            made = self.definition
            variables = [each.variable for each in made.ins]
            shared = self.get_shared()
            if isinstance(self.symc_function, PythonProgram):
                roots = self.symc_function.roots
            else:
                with lenient.varying() if self.varies else nullcontext():
                    _, translation, _ = translated(made)
                roots = as_compiled(variables, made.roots, translation.known)
                if get_mode(made.mode).name != "FAST_COMPILE":
                    roots = written_in_place(variables, roots)
            graph = FunctionGraph([*variables, *shared], roots)
            graph.name = made.name
            self.__dict__["_maker"] = SimpleNamespace(
                fgraph=graph, mode=get_mode(made.mode), inputs=list(made.ins),
                outputs=self.outputs, expanded_inputs=list(made.ins), function=self,
            )  # fmt: skip
        return self.__dict__["_maker"]

    @property
    def fn(self) -> Any:
        """Runs the function on what `input_storage` has: for programs that want no checks."""
        if "_fn" not in self.__dict__:
            self.__dict__["_fn"] = StoredRun(self)
        return self.__dict__["_fn"]

    def get_shared(self) -> list[Any]:
        """The shared variables that the function uses or updates."""
        from symc.theano.gof.graph import inputs

        found = dict.fromkeys(
            each for each in inputs(self.definition.roots) if isinstance(each, SharedVariable)
        )
        found.update(dict.fromkeys(target for target, _ in self.definition.updates))
        return list(found)

    @property
    def _check_for_aliased_inputs(self) -> bool:
        """Whether an argument may be overwritten, so that two must not share memory."""
        return any(each.mutable or each.borrow for each in self.definition.ins if not each.implicit)

    def free(self) -> None:
        """Frees intermediate results; symc keeps none."""

    def sync_shared(self) -> None:
        """Waits for devices; values are always there."""

    def copy(
        self, share_memory: bool = False, swap: Any = None, delete_updates: bool = False,
        name: str | None = None, profile: Any = None,
    ) -> Function:  # fmt: skip
        """The function with other shared variables, or without updates; its outputs are a list."""
        del profile
        made = replace(self.definition, form="list", keys=())
        name = name or (f"{self.name} copy" if self.name else None)
        pairs = [self._swapped(old, new) for old, new in (swap or {}).items()]
        roots, _ = substituted(made.roots, pairs)
        by = dict(pairs)
        other = replace(made.with_roots(roots), name=name)
        targets = [by.get(target, target) for target, _ in other.updates]
        news = [of_target(t, n) for t, (_, n) in zip(targets, other.updates, strict=True)]
        other = replace(other, updates=tuple(zip(targets, news, strict=True)))
        if delete_updates:
            other = replace(other, updates=(), states=())
        if share_memory:
            return Function(other, self.input_storage)
        held = zip(other.ins, self.input_storage, strict=True)
        return Function(other, [_copied(each, container) for each, container in held])

    def _swapped(self, old: Any, new: Any) -> tuple[Any, Any]:
        known = self.get_shared()
        if not isinstance(old, Variable):
            old = next((each for each in known if each.name == old), old)
        if old not in known:
            raise ValueError(f"SharedVariable: {old} not found")
        assert new.type == old.type, "the new variable has another type"
        return old, new

    def __copy__(self) -> Function:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        made = Function(
            copy.deepcopy(self.definition, memo), copy.deepcopy(self.input_storage, memo)
        )
        memo[id(self)] = made
        made.name, made.trust_input = self.name, self.trust_input
        return made

    def __reduce__(self) -> Any:
        own = {"name": self.name, "trust_input": self.trust_input}
        return Function, (self.definition, self.input_storage), own


def _decoded() -> Any:
    from symc.theano.gof.type import Type

    return Type.decoded


def _container(each: Any) -> Any:
    value: Any = each.value
    if isinstance(value, SharedVariable):
        return value.container
    if isinstance(value, Container):
        return value
    kind = each.variable.type
    if value is not None:
        value = kind.filter(value, strict=each.strict, allow_downcast=each.allow_downcast)
        value = copy.copy(value) if isinstance(value, np.ndarray) else value
    return Container(kind, [value], each.strict, each.allow_downcast, each.name)


def _copied(each: Any, container: Any) -> Any:
    """A container with the value of another: its own copy, where calls change that."""
    if each.implicit:
        return container
    value = container.data
    changes = each.mutable or each.update is not None
    return Container(
        container.type, [copy.deepcopy(value) if changes else value], container.strict,
        container.allow_downcast, container.name,
    )  # fmt: skip


def _default(each: Any) -> tuple[bool, bool, Any]:
    """Whether an input has to be given, whether its default comes back, and that."""
    required = each.value is None
    refeed = not required and each.update is None
    return required, refeed, each.value


def _explain(error: Exception, function: Function, position: int) -> None:
    """Puts in front of an error's message which input of which function it is about."""
    name = f'with name "{function.name}" ' if function.name else ""
    text = f"Bad input argument to theano function {name}at index {position} (0-based). "
    first = str(error.args[0]) if error.args else ""
    error.args = (text + first, *error.args[1:])


def function(
    inputs: Any, outputs: Any = None, mode: Any = None, updates: Any = None, givens: Any = None,
    no_default_updates: Any = False, accept_inplace: bool = False, name: str | None = None,
    rebuild_strict: bool = True, allow_input_downcast: bool | None = None, profile: Any = None,
    on_unused_input: str | None = None,
) -> Function:  # fmt: skip
    """Compiles a function of `inputs` that computes `outputs` and updates shared variables."""
    made = defined(
        inputs, outputs, mode, updates, givens, no_default_updates, name, rebuild_strict,
        on_unused_input, allow_input_downcast,
    )  # fmt: skip
    if not accept_inplace:
        check_in_place(made)
    made = with_overwrites(rewritten(made))
    if profile is None:
        profile = config.profile
    if profile is False:
        return Function(made)
    from symc.theano.compile.profiling import ProfiledFunction

    return ProfiledFunction(made, profile=profile)


def pfunc(params: Any, outputs: Any = None, *args: Any, **kwargs: Any) -> Function:
    """As `function`, whose inputs it calls `params`."""
    return function(params, outputs, *args, **kwargs)


def function_dump(filename: Any, inputs: Any, outputs: Any = None, **kwargs: Any) -> None:
    """Writes the arguments of `function` into a file, with pickle."""
    import pickle
    from pathlib import Path

    with Path(filename).open("wb") as file:
        pickle.dump({"inputs": inputs, "outputs": outputs, **kwargs}, file, -1)
