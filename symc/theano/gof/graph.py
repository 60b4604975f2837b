"""Theano's graphs: variables that each have an identity, and the applications that compute them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, cast

from symc.graph.provenance import Where, user_line
from symc.theano.gof.searches import is_in_ancestors as is_in_ancestors
from symc.theano.gof.searches import stack_search as stack_search
from symc.theano.gof.texts import as_string as as_string
from symc.theano.gof.texts import default_leaf_formatter as default_leaf_formatter
from symc.theano.gof.texts import default_node_formatter as default_node_formatter
from symc.theano.gof.texts import leaf_formatter as leaf_formatter
from symc.theano.gof.texts import node_formatter as node_formatter
from symc.theano.gof.texts import op_as_string as op_as_string
from symc.theano.gof.utils import scratchpad

if TYPE_CHECKING:
    from symc.theano.gof.op import Op
    from symc.theano.gof.type import Type

NoParams = object()  # what an op without parameters has for them


class Node:
    """An `Apply` or a `Variable`."""

    tag: Any

    def get_parents(self) -> list[Any]:
        """The nodes that this one is made from."""
        raise NotImplementedError


class Apply(Node):
    """An op applied to variables: `inputs` and the `outputs`, which know it as their owner."""

    def __init__(self, op: Op, inputs: Sequence[Variable], outputs: Sequence[Variable]) -> None:
        self.op = op
        self.inputs: list[Any] = list(inputs)
        self.outputs: list[Any] = list(outputs)
        self.tag = scratchpad()
        self.where: Where = user_line()
        for each in self.inputs:
            if not isinstance(each, Variable):
                raise TypeError(
                    "The 'inputs' argument to Apply must contain Variable instances, not %s" % each
                )
        for position, output in enumerate(self.outputs):
            if not isinstance(output, Variable):
                raise TypeError(
                    "The 'outputs' argument to Apply must contain Variable instances with no "
                    "owner, not %s" % output
                )
            if output.owner is not None and (output.owner is not self or output.index != position):
                raise ValueError("All output variables passed to Apply must belong to it.")
            output.owner, output.index = self, position
            for observer in _observers:
                observer(output)

    @property
    def nin(self) -> int:
        """The number of inputs."""
        return len(self.inputs)

    @property
    def nout(self) -> int:
        """The number of outputs."""
        return len(self.outputs)

    def default_output(self) -> Variable:
        """The output that stands for the node."""
        position = getattr(self.op, "default_output", None)
        if position is None:
            if len(self.outputs) != 1:
                raise AttributeError(f"{self.op}.default_output should be an output index.")
            position = 0
        result: Variable = self.outputs[position]
        return result

    @property
    def out(self) -> Variable:
        """The output that stands for the node."""
        return self.default_output()

    def get_parents(self) -> list[Any]:
        return list(self.inputs)

    def clone(self) -> Apply:
        """The same application with outputs of its own."""
        made = Apply(self.op, self.inputs, [output.clone() for output in self.outputs])
        made.tag, made.where = copy(self.tag), self.where
        return made

    def clone_with_new_inputs(self, inputs: Sequence[Variable], strict: bool = True) -> Apply:
        """The same op on other variables, which become the types it had where they are not."""
        changed, news = False, list(inputs)
        for position, (old, new) in enumerate(zip(self.inputs, inputs, strict=True)):
            if old.type != new.type:
                if strict:
                    news[position] = old.type.filter_variable(new)
                else:
                    changed = True
        if not changed:
            made = self.clone()
            made.inputs = news
            return made
        made = self.op.make_node(*news)
        made.tag, made.where = copy(self.tag), self.where
        return made

    def __str__(self) -> str:
        return op_as_string(self.inputs, self)

    def __repr__(self) -> str:
        return str(self)


class Variable(Node):
    """A value of a `type`: output `index` of its `owner`, or given from outside."""

    __count__ = itertools.count()

    def __init__(
        self, type: Type, owner: Apply | None = None, index: int | None = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self.tag = scratchpad()
        self.type: Any = type
        self.owner: Any = owner
        self.index = index
        if not isinstance(cast("object", name), str | None):
            raise TypeError("name must be a string", name)
        self.name = name
        self.auto_name = f"auto_{next(Variable.__count__)}"

    if TYPE_CHECKING:  # other attributes depend on the type: `ndim`, `dtype`, indexing

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        if self.owner is None:
            return f"<{self.type}>"
        part = "out" if self.index == self.owner.op.default_output else str(self.index)
        return f"{self.owner.op}.{part}"

    def __repr__(self, firstPass: bool = True) -> str:
        from symc.theano.configparser import config

        value = getattr(self.tag, "test_value", None)
        if firstPass and config.print_test_value and value is not None:
            return f"{self}\n{value!r}"
        return str(self)

    def clone(self) -> Any:
        """A variable of the same type and name, of no owner."""
        made = type(self)(self.type, None, None, self.name)
        made.tag = copy(self.tag)
        return made

    def get_parents(self) -> list[Any]:
        return [] if self.owner is None else [self.owner]

    def eval(self, inputs_to_values: Mapping[Any, Any] | None = None) -> Any:
        """The value, given those of the variables it depends on. Keeps the compiled function."""
        from symc.theano.compile.function import function

        given = dict(inputs_to_values or {})
        cache: dict[Any, Any] = self.__dict__.setdefault("_fn_cache", {})
        variables = tuple(sorted(given, key=id))
        if variables not in cache:
            cache[variables] = function(list(variables), self)
        return cache[variables](*[given[variable] for variable in variables])

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state.pop("_fn_cache", None)
        return state

    def __lt__(self, other: Any) -> Any:
        raise NotImplementedError("Subclasses of Variable must provide __lt__", type(self).__name__)

    def __le__(self, other: Any) -> Any:
        raise NotImplementedError("Subclasses of Variable must provide __le__", type(self).__name__)

    def __gt__(self, other: Any) -> Any:
        raise NotImplementedError("Subclasses of Variable must provide __gt__", type(self).__name__)

    def __ge__(self, other: Any) -> Any:
        raise NotImplementedError("Subclasses of Variable must provide __ge__", type(self).__name__)


class Constant(Variable):
    """A variable whose value, `data`, is known."""

    def __init__(self, type: Type, data: Any, name: str | None = None) -> None:
        super().__init__(type, None, None, name)
        self.data = type.filter(data)

    def signature(self) -> Any:
        """A key that is equal for equal constants."""
        return (self.type, self.data)

    def equals(self, other: Any) -> bool:
        """Whether another constant has the same type and value."""
        return isinstance(other, Constant) and bool(self.signature() == other.signature())

    def clone(self) -> Any:
        made = type(self)(self.type, self.data, self.name)
        made.tag = copy(self.tag)
        return made

    @property
    def value(self) -> Any:
        """The value."""
        return self.data

    def __str__(self) -> str:
        return self.name if self.name is not None else f"{type(self).__name__}{{{self.data}}}"


# --- walks ----------------------------------------------------------------------------------------


def io_toposort(
    inputs: Iterable[Variable], outputs: Iterable[Variable], orderings: Any = None,
    clients: Any = None,
) -> list[Apply]:  # fmt: skip
    """The applications between inputs and outputs, each after those that it depends on.

    `orderings` names further applications that have to come before one; `clients`, a dict, is
    filled with the applications that depend on each.
    """
    known = set(inputs)
    order: list[Apply] = []
    done: set[Apply] = set()
    pending = [v.owner for v in outputs if v.owner is not None and v not in known]
    pending.reverse()
    while pending:
        node = pending[-1]
        if node in done:
            pending.pop()
            continue
        before = [v.owner for v in node.inputs if v.owner is not None and v not in known]
        if orderings:
            before += orderings.get(node, ())
        needed = [each for each in before if each not in done]
        if needed:
            pending.extend(needed)
            continue
        if clients is not None:
            for each in dict.fromkeys(before):
                clients.setdefault(each, []).append(node)
        done.add(node)
        order.append(node)
        pending.pop()
    return order


def ancestors(variable_list: Iterable[Variable], blockers: Iterable[Variable] | None = None) -> Any:
    """All variables that these depend on, themselves included; blockers' own are left out."""
    stop = set(blockers or ())
    found: dict[Variable, None] = {}
    pending = list(variable_list)
    while pending:
        variable = pending.pop()
        if variable in found:
            continue
        found[variable] = None
        if variable.owner is not None and variable not in stop:
            pending.extend(reversed(variable.owner.inputs))
    return list(found)


def inputs(variable_list: Iterable[Variable], blockers: Iterable[Variable] | None = None) -> Any:
    """The variables that these depend on and that nothing computes."""
    return [variable for variable in ancestors(variable_list, blockers) if variable.owner is None]


def variables(i: Iterable[Variable], o: Iterable[Variable]) -> list[Variable]:
    """The variables between inputs and outputs."""
    found: dict[Variable, None] = dict.fromkeys(o)
    for node in io_toposort(i, o):
        found.update(dict.fromkeys([*node.inputs, *node.outputs]))
    return list(found)


def orphans(i: Iterable[Variable], o: Iterable[Variable]) -> list[Variable]:
    """The variables between inputs and outputs that nothing computes and that are no inputs."""
    given = set(i)
    return [each for each in variables(given, o) if each.owner is None and each not in given]


def variables_and_orphans(i: Any, o: Any) -> tuple[list[Variable], list[Variable]]:
    """`variables` and `orphans`."""
    return variables(i, o), orphans(i, o)


def ops(i: Iterable[Variable], o: Iterable[Variable]) -> set[Apply]:
    """The applications between inputs and outputs."""
    return set(io_toposort(i, o))


list_of_nodes = io_toposort


def general_toposort(outputs: Iterable[Node], deps: Callable[[Any], Any], **_: Any) -> list[Any]:
    """Everything that the outputs depend on by `deps`, each after its own dependencies."""
    order: list[Any] = []
    done: set[Any] = set()
    pending = list(outputs)[::-1]
    while pending:
        node = pending[-1]
        needed = [] if node in done else [d for d in deps(node) or () if d not in done]
        if needed:
            pending.extend(reversed(needed))
            continue
        if node not in done:
            done.add(node)
            order.append(node)
        pending.pop()
    return order


# --- copies ---------------------------------------------------------------------------------------


def clone_get_equiv(
    inputs: Sequence[Variable], outputs: Sequence[Variable], copy_inputs: bool = True,
    copy_orphans: bool = True, memo: dict[Any, Any] | None = None,
) -> dict[Any, Any]:  # fmt: skip
    """Copies of all nodes between inputs and outputs: a dict from old nodes to new ones."""
    memo = {} if memo is None else memo
    for each in inputs:
        memo.setdefault(each, each.clone() if copy_inputs else each)
    for node in io_toposort(list(memo), outputs):
        if node in memo:
            continue
        for each in node.inputs:
            if each not in memo:
                memo[each] = each.clone() if copy_orphans else each
        made = node.clone_with_new_inputs([memo[each] for each in node.inputs])
        memo[node] = made
        for old, new in zip(node.outputs, made.outputs, strict=True):
            memo.setdefault(old, new)
    for each in outputs:
        if each not in memo:
            memo[each] = each.clone() if copy_orphans else each
    return memo


def clone(i: Any, o: Any, copy_inputs: bool = True, copy_orphans: Any = None) -> Any:
    """Copies of inputs and outputs and of all between them."""
    both = copy_inputs if copy_orphans is None else copy_orphans
    equiv = clone_get_equiv(i, o, copy_inputs, both)
    return [equiv[each] for each in i], [equiv[each] for each in o]


def replaced(
    outputs: Sequence[Variable], replace: Mapping[Any, Any], strict: bool = True
) -> list[Any]:
    """The outputs with variables replaced; those that do not depend on these are kept."""
    memo: dict[Any, Any] = dict(replace)
    for node in io_toposort(list(replace), outputs):
        news = [memo.get(each, each) for each in node.inputs]
        if all(new is old for new, old in zip(news, node.inputs, strict=True)):
            continue
        made = node.clone_with_new_inputs(news, strict)
        for old, new in zip(node.outputs, made.outputs, strict=True):
            memo.setdefault(old, new)
    return [memo.get(each, each) for each in outputs]


# --- comparison -----------------------------------------------------------------------------------


def equal_computations(xs: Any, ys: Any, in_xs: Any = None, in_ys: Any = None) -> bool:
    """Whether the xs are computed from `in_xs` as the ys are from `in_ys`."""
    in_xs, in_ys = list(in_xs or ()), list(in_ys or ())
    if len(xs) != len(ys):
        raise ValueError("The number of graphs to compare does not match.")
    same = dict(zip(in_xs, in_ys, strict=True))
    for node in io_toposort(in_xs, xs):
        for each in node.inputs:
            _match_leaf(each, same)
    pending = list(zip(xs, ys, strict=True))
    checked: set[tuple[Any, Any]] = set()
    while pending:
        x, y = pending.pop()
        if (x, y) in checked or same.get(x) is y or (x is y and x not in same):
            continue
        checked.add((x, y))
        if x in same or x.type != y.type:
            return False
        if isinstance(x, Constant) and isinstance(y, Constant):
            if not x.equals(y):
                return False
            continue
        a, b = x.owner, y.owner
        if a is None or b is None or x.index != y.index or a.op != b.op or a.nin != b.nin:
            return False
        pending += zip(a.inputs, b.inputs, strict=True)
    return True


def _match_leaf(variable: Variable, same: dict[Any, Any]) -> None:
    if variable.owner is None and not isinstance(variable, Constant):
        same.setdefault(variable, variable)


def is_same_graph(var1: Any, var2: Any, givens: Any = None, debug: bool = False) -> bool:
    """Whether two variables are computed alike, where some (`givens`) stand for others."""
    del debug
    pairs = list(givens.items() if isinstance(givens, Mapping) else givens or ())
    both = [*pairs, *((b, a) for a, b in pairs)]
    known = {id(a): b for a, b in both}

    def alike(x: Any, y: Any) -> bool:
        if x is y or known.get(id(x)) is y:
            return True
        if x.type != y.type:
            return False
        if isinstance(x, Constant) and isinstance(y, Constant):
            return x.equals(y)
        a, b = x.owner, y.owner
        if a is None or b is None or x.index != y.index or a.op != b.op or a.nin != b.nin:
            return False
        return all(alike(p, q) for p, q in zip(a.inputs, b.inputs, strict=True))

    return alike(var1, var2)


# --- what a program may ask -----------------------------------------------------------------------


def io_connection_pattern(inputs: Sequence[Any], outputs: Sequence[Any]) -> list[list[bool]]:
    """For each input, which outputs gradients reach it from."""
    from symc.theano.gradient_tape import connected

    return connected(inputs, outputs)


_observers: list[Callable[[Variable], None]] = []


@contextlib.contextmanager
def nodes_constructed() -> Generator[list[Variable], None, None]:
    """A context whose value is the list of variables that are made in it, and have an owner.

    >>> import symc.theano as theano
    >>> x = theano.tensor.dscalar("x")
    >>> with nodes_constructed() as made:
    ...     y = theano.tensor.exp(x)
    >>> made == [y]
    True
    """
    made: list[Variable] = []
    observer = made.append
    _observers.append(observer)
    try:
        yield made
    finally:
        _observers.remove(observer)
