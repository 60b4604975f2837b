"""Rewrites of one node: what to put in the place of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from symc.theano.gof.graph import Constant, Variable
from symc.theano.gof.op import PureOp

__all__ = [
    "FromFunctionLocalOptimizer", "LocalMetaOptimizer", "LocalOptGroup", "LocalOptimizer",
    "OpRemove", "OpSub", "PatternSub", "local_optimizer",
]  # fmt: skip


class LocalOptimizer:
    """A rewrite of one node.

    `transform` returns the replacements of the node's outputs, a list or a dict, or False.
    """

    def tracks(self) -> Sequence[Any] | None:
        """The ops, or classes of ops, that the rewrite looks at; None: all."""
        return None

    def transform(self, node: Any) -> Any:
        """The replacements of a node's outputs; False where there are none."""
        raise NotImplementedError(f"{type(self).__name__} has no transform")

    def add_requirements(self, fgraph: Any) -> None:
        """Attaches the features that the rewrite needs."""


def is_tracked(rewrite: Any, op: Any) -> bool:
    """Whether a rewrite looks at nodes of an op."""
    tracked = rewrite.tracks()
    return tracked is None or any(
        isinstance(op, each) if isinstance(each, type) else op == each for each in tracked
    )


class FromFunctionLocalOptimizer(LocalOptimizer):
    """A function of a node as a rewrite."""

    def __init__(self, fn: Any, tracks: Any = None, requirements: Iterable[Any] = ()) -> None:
        self.fn, self._tracks, self.requirements = fn, tracks, tuple(requirements)
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)
        self.__doc__ = getattr(fn, "__doc__", None)

    def tracks(self) -> Any:
        """The ops given to `local_optimizer`."""
        return self._tracks

    def transform(self, node: Any) -> Any:
        """What the function returns."""
        return self.fn(node)

    def add_requirements(self, fgraph: Any) -> None:
        """Attaches what the requirements say."""
        for each in self.requirements:
            each(fgraph)

    def __str__(self) -> str:
        return self.__name__


def local_optimizer(
    tracks: Any, inplace: bool = False, requirements: Iterable[Any] = ()
) -> Callable[[Any], FromFunctionLocalOptimizer]:
    """Makes a rewrite of a function of a node; `tracks` are the ops that it looks at, None for all.

    Raises ValueError for an empty list, or for what is neither an op nor a class of ops.

    >>> from symc.theano.tensor import tanh
    >>> @local_optimizer([tanh])
    ... def local_identity(node):
    ...     return [node.inputs[0]] if node.op == tanh else False
    >>> str(local_identity)
    'local_identity'
    """
    if tracks is not None:
        if not len(tracks):
            raise ValueError("Use None instead of an empty list to apply to all nodes.")
        for each in tracks:
            is_class = isinstance(each, type) and issubclass(each, PureOp)
            if not is_class and not isinstance(each, PureOp):
                raise ValueError(f"Tracks are op classes or instances, not {each!r}")

    def decorated(function: Any) -> FromFunctionLocalOptimizer:
        needs = requirements
        if inplace:
            from symc.theano.gof.toolbox import ReplaceValidate

            needs = (*requirements, lambda graph: graph.attach_feature(ReplaceValidate()))
        return FromFunctionLocalOptimizer(function, tracks, needs)

    return decorated


class LocalMetaOptimizer(LocalOptimizer):
    """Theano chose among several implementations by their times; symc has one."""

    def __init__(self) -> None:
        raise NotImplementedError("symc has one implementation of each op; see symc.rewrite")


class LocalOptGroup(LocalOptimizer):
    """Several rewrites of one node; the first that has a replacement decides."""

    def __init__(
        self, *optimizers: Any, apply_all_opts: bool = False, profile: bool = False
    ) -> None:
        del apply_all_opts, profile
        if len(optimizers) == 1 and isinstance(optimizers[0], list | tuple):
            optimizers = tuple(optimizers[0])
        self.opts = list(optimizers)
        self.__name__ = f"LocalOptGroup({','.join(map(str, self.opts))})"

    def tracks(self) -> Any:
        """All that one of the rewrites looks at."""
        found: list[Any] = []
        for each in self.opts:
            tracked = each.tracks()
            if tracked is None:
                return None
            found.extend(tracked)
        return found

    def transform(self, node: Any) -> Any:
        """The replacements of the first rewrite that has some."""
        for each in self.opts:
            found = each.transform(node) if is_tracked(each, node.op) else False
            if found:
                return found
        return False

    def add_requirements(self, fgraph: Any) -> None:
        """Attaches what each of the rewrites needs."""
        for each in self.opts:
            each.add_requirements(fgraph)

    def __str__(self) -> str:
        return self.__name__


class OpSub(LocalOptimizer):
    """Another op in the place of one, upon the same inputs."""

    retains_inputs = True

    def __init__(self, op1: Any, op2: Any, transfer_tags: bool = True) -> None:
        self.op1, self.op2, self.transfer_tags = op1, op2, transfer_tags

    def op_key(self) -> Any:
        """The op that is replaced."""
        return self.op1

    def tracks(self) -> Any:
        """The op that is replaced."""
        return [self.op1]

    def transform(self, node: Any) -> Any:
        """The outputs of the other op."""
        if node.op != self.op1:
            return False
        made = self.op2.make_node(*node.inputs)
        if self.transfer_tags:
            made.tag.__dict__.update(node.tag.__dict__)
        return made.outputs

    def __str__(self) -> str:
        return f"{self.op1} -> {self.op2}"


class OpRemove(LocalOptimizer):
    """The inputs of an op in the place of its outputs; as many of both."""

    def __init__(self, op: Any) -> None:
        self.op = op

    def op_key(self) -> Any:
        """The op that is removed."""
        return self.op

    def tracks(self) -> Any:
        """The op that is removed."""
        return [self.op]

    def transform(self, node: Any) -> Any:
        """The inputs."""
        return list(node.inputs) if node.op == self.op else False

    def __str__(self) -> str:
        return f"{self.op}(x) -> x"


class PatternSub(LocalOptimizer):
    """An expression in the place of another: both are patterns.

    A pattern is a tuple of an op and the patterns of its inputs, a string, which stands for any
    variable, and for the same one wherever it occurs, a number or a constant, or a dict of a
    "pattern" and a "constraint", a function of the variable. What lies inside of the expression
    must have no other use, unless `allow_multiple_clients`.
    """

    def __init__(
        self, in_pattern: Any, out_pattern: Any, allow_multiple_clients: bool = False,
        skip_identities_fn: Any = None, name: str | None = None, tracks: Any = (),
        get_nodes: Any = None, values_eq_approx: Any = None,
    ) -> None:  # fmt: skip
        self.in_pattern, self.out_pattern = in_pattern, out_pattern
        first = in_pattern
        while isinstance(first, dict):
            first = first["pattern"]
        if not isinstance(first, tuple | list):
            raise TypeError(
                "The pattern to search for must start with a specific Op instance, or a dictionary "
                "whose pattern key does"
            )
        self.op = first[0]
        self.allow_multiple_clients = allow_multiple_clients
        self.skip_identities_fn, self.values_eq_approx = skip_identities_fn, values_eq_approx
        self._tracks, self.get_nodes = tracks, get_nodes
        self.__name__ = name or f"{_text(in_pattern)} -> {_text(out_pattern)}"

    def op_key(self) -> Any:
        """The op that the pattern starts with."""
        return self.op

    def tracks(self) -> Any:
        """The op that the pattern starts with, or those that were given."""
        return list(self._tracks) or [self.op]

    def transform(self, node: Any, get_nodes: bool = True) -> Any:
        """The other expression, if the node fits the pattern."""
        if get_nodes and self.get_nodes is not None:
            others: list[Any] = [n for n in self.get_nodes(node) if not isinstance(n, str)]
            for real in others:
                found: Any = self.transform(real, get_nodes=False)
                if found:
                    return dict(zip(real.outputs, found, strict=True))
        if node.op != self.op or len(node.outputs) != 1:
            return False
        names: dict[str, Any] = {}
        if not self._fits(self.in_pattern, node.outputs[0], names, outermost=True):
            return False
        return [_built(self.out_pattern, names)]

    def _fits(self, pattern: Any, variable: Any, names: dict[str, Any], outermost: bool) -> bool:
        if self._fits_itself(pattern, variable, names, outermost):
            return True
        skip = self.skip_identities_fn
        inner = None if skip is None or outermost else skip(variable)
        return bool(inner) and self._fits(pattern, inner, names, outermost=False)

    def _fits_itself(
        self, pattern: Any, variable: Any, names: dict[str, Any], outermost: bool
    ) -> bool:
        match pattern:
            case str():
                return names.setdefault(pattern, variable) is variable
            case dict():
                constraint = pattern.get("constraint")
                if not self._fits_itself(pattern["pattern"], variable, names, outermost):
                    return False
                return constraint is None or bool(constraint(variable))
            case tuple() | list():
                return self._fits_node(pattern, variable, names, outermost)
            case Constant():
                return isinstance(variable, Constant) and bool(pattern.equals(variable))
            case Variable():
                return pattern is variable
            case _:
                return isinstance(variable, Constant) and bool(np.all(variable.data == pattern))

    def _fits_node(
        self, pattern: Sequence[Any], variable: Any, names: dict[str, Any], outermost: bool
    ) -> bool:
        node = variable.owner
        if node is None or node.op != pattern[0] or len(node.inputs) != len(pattern) - 1:
            return False
        if not (outermost or self.allow_multiple_clients) and len(variable.clients) > 1:
            return False
        return all(
            self._fits(part, each, names, outermost=False)
            for part, each in zip(pattern[1:], node.inputs, strict=True)
        )

    def __str__(self) -> str:
        return self.__name__


def _built(pattern: Any, names: dict[str, Any]) -> Any:
    """The expression that a pattern describes."""
    match pattern:
        case str():
            return names[pattern]
        case tuple() | list():
            return pattern[0](*(_built(part, names) for part in pattern[1:]))
        case Variable():
            return pattern.clone()
        case _:
            return pattern


def _text(pattern: Any) -> str:
    match pattern:
        case tuple() | list():
            return f"{pattern[0]}({', '.join(map(_text, pattern[1:]))})"
        case dict():
            return f"{_text(pattern['pattern'])} subject to {pattern.get('constraint')}"
        case _:
            return str(pattern)
