"""Function graphs: a graph between inputs and outputs that knows who uses what, and can change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from symc.theano.gof.graph import Apply, Constant, Variable, clone_get_equiv, io_toposort


class MissingInputError(Exception):
    """A graph needs an input that is not given."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.variable = kwargs.pop("variable", None)
        super().__init__(*args)


class InconsistencyError(Exception):
    """A graph was changed into one that is not allowed."""


class CachedConstantError(Exception):
    """A graph is to own a constant that others share; symc shares none."""


class FunctionGraph:
    """The graph between inputs and outputs; by default a copy of it.

    Each of its variables has ``clients``, a list of the places where it is used: pairs of an
    application, or "output", and a position. Features (`symc.theano.gof.toolbox`) are told of
    changes. Raises `MissingInputError` where the graph needs something that is neither an input
    nor a constant.

    >>> import symc.theano as theano
    >>> x, y = theano.tensor.dscalars("x", "y")
    >>> graph = FunctionGraph([x, y], [theano.tensor.exp(x) * y], clone=False)
    >>> graph.replace(graph.outputs[0].owner.inputs[0], x)
    >>> [str(node.op) for node in graph.toposort()], len(x.clients)
    (['Elemwise{mul,no_inplace}'], 1)
    """

    name: Any = None

    def __init__(
        self, inputs: Sequence[Any], outputs: Sequence[Any], features: Any = None,
        clone: bool = True, update_mapping: Any = None,
    ) -> None:  # fmt: skip
        from symc.theano.gof.toolbox import ReplaceValidate

        if clone:
            memo = clone_get_equiv(inputs, outputs)
            inputs, outputs = [memo[i] for i in inputs], [memo[o] for o in outputs]
        self._features: list[Any] = []
        self.apply_nodes: set[Apply] = set()
        self.variables: set[Any] = set()
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.update_mapping = update_mapping
        self.profile: Any = None
        for feature in [*(features or ()), ReplaceValidate()]:
            self.attach_feature(feature)
        for each in inputs:
            if each.owner is not None:
                raise ValueError(
                    "One of the provided inputs is the output of an already existing node. If that "
                    "is okay, either discard that input's owner or use graph.clone."
                )
            self.add_input(each)
        self.outputs = list(outputs)
        for position, each in enumerate(self.outputs):
            self._use(each, ("output", position), "init")

    if TYPE_CHECKING:  # features put functions upon the graph

        def __getattr__(self, name: str) -> Any: ...

    # --- what there is ----------------------------------------------------------------------------

    def clients(self, r: Variable) -> list[tuple[Any, int]]:
        """Where a variable is used: pairs of an application, or "output", and a position."""
        return r.clients if r in self.variables else []

    def toposort(self) -> list[Apply]:
        """The applications, each after those it depends on, and after those features demand."""
        return io_toposort(self.inputs, self.outputs, self.orderings())

    def orderings(self) -> dict[Apply, list[Apply]]:
        """What has to come before an application, beside its inputs, as features say."""
        found: dict[Apply, list[Apply]] = {}
        for feature in self._features:
            if hasattr(feature, "orderings"):
                for node, before in feature.orderings(self).items():
                    found.setdefault(node, []).extend(before)
        return found

    def check_integrity(self) -> None:
        """Raises where what the graph knows of itself is not what it is."""
        nodes = set(io_toposort(self.inputs, self.outputs))
        if nodes != self.apply_nodes:
            raise Exception("The nodes are inappropriately cached.", nodes ^ self.apply_nodes)
        uses: dict[tuple[Any, int], Any] = {
            ("output", position): each for position, each in enumerate(self.outputs)
        }
        uses.update(((n, position), v) for n in nodes for position, v in enumerate(n.inputs))
        for place, each in uses.items():
            if each not in self.variables or place not in each.clients:
                raise Exception(f"Inconsistent clients: {place} is not among those of {each}")
        for each in self.variables:
            if any(uses.get(place) is not each for place in each.clients):
                raise Exception(f"Inconsistent clients of {each}: {each.clients}")

    # --- how it changes ---------------------------------------------------------------------------

    def add_input(self, input: Any) -> None:
        """One more input."""
        if input not in self.inputs:
            self.inputs.append(input)
            self._own(input)

    def replace(self, r: Any, new_r: Any, reason: Any = None, verbose: Any = None) -> None:
        """Uses `new_r` where `r` was used. Raises TypeError where their types differ."""
        if verbose:
            print(reason, r, new_r)  # noqa: T201 -- as Theano does
        if r not in self.variables:
            return  # it was pruned by an earlier replacement
        fitting = r.type.convert_variable(new_r)
        if fitting is None or fitting.type != r.type:
            raise TypeError(
                "The type of the replacement must be compatible with the type of the original "
                "Variable.", r, new_r, r.type, new_r.type, str(reason),
            )  # fmt: skip
        for node, position in list(r.clients):
            self.change_input(node, position, fitting, reason)

    def replace_all(self, pairs: Iterable[tuple[Any, Any]], reason: Any = None) -> None:
        """Several replacements."""
        for r, new_r in pairs:
            self.replace(r, new_r, reason)

    def change_input(self, node: Any, i: int, new_r: Any, reason: Any = None) -> None:
        """Makes `new_r` the input `i` of a node, or the output `i` of the graph ("output")."""
        place = self.outputs if node == "output" else node.inputs
        r = place[i]
        if r is new_r:
            return
        if r.type != new_r.type:
            raise TypeError("The type of the replacement must be the same as the type of the "
                            "original Variable.", r, new_r, r.type, new_r.type)  # fmt: skip
        place[i] = new_r
        self._use(new_r, (node, i), reason)
        self._release(r, (node, i), reason)
        self.execute_callbacks("on_change_input", node, i, r, new_r, reason=reason)

    def clone(self, check_integrity: bool = True) -> FunctionGraph:
        """A copy of the whole graph."""
        return self.clone_get_equiv(check_integrity)[0]

    def clone_get_equiv(
        self, check_integrity: bool = True, attach_feature: bool = True
    ) -> tuple[FunctionGraph, dict[Any, Any]]:
        """A copy of the whole graph, and a dict from its old nodes to the new ones."""
        memo = clone_get_equiv(self.inputs, self.outputs)
        made = FunctionGraph(
            [memo[i] for i in self.inputs], [memo[o] for o in self.outputs], clone=False,
            update_mapping=self.update_mapping,
        )  # fmt: skip
        if check_integrity:
            made.check_integrity()
        for feature in self._features if attach_feature else ():
            made.attach_feature(feature)
        return made, memo

    def disown(self) -> None:
        """Lets go of all nodes: the graph is empty afterwards."""
        for feature in list(self._features):
            self.remove_feature(feature)
        for each in self.variables:
            del each.fgraph, each.clients
        for node in self.apply_nodes:
            delattr(node, "fgraph")
        self.apply_nodes, self.variables, self.inputs, self.outputs = set(), set(), [], []

    def _own(self, variable: Any) -> None:
        owner = getattr(variable, "fgraph", None)
        if owner is not None and owner is not self:
            raise Exception(f"{variable} is already owned by another fgraph")
        variable.fgraph, variable.clients = self, []
        self.variables.add(variable)

    def _use(self, variable: Any, place: tuple[Any, int], reason: Any) -> None:
        """Takes a variable and all it depends on into the graph; `place` uses it."""
        if variable not in self.variables:
            self._import(variable, reason)
        variable.clients.append(place)

    def _import(self, root: Any, reason: Any) -> None:
        for node in io_toposort(self.variables, [root]):
            for position, each in enumerate(node.inputs):
                self._check_leaf(each, node, position)
            self._import_node(node, reason)
        if root not in self.variables:
            self._check_leaf(root, "output", 0)
            self._own(root)

    def _check_leaf(self, variable: Any, node: Any, position: int) -> None:
        known = variable.owner is not None or isinstance(variable, Constant)
        if not known and variable not in self.variables:
            raise MissingInputError(
                f"Input {position} of the graph (indices start from 0), used to compute {node}, was"
                " not provided and not given a value. Use the Theano flag exception_verbosity="
                "'high', for more information on this error.", variable=variable,
            )  # fmt: skip

    def _import_node(self, node: Any, reason: Any) -> None:
        owner = getattr(node, "fgraph", None)
        if owner is not None and owner is not self:
            raise Exception(f"{node} is already owned by another fgraph")
        node.fgraph = self
        self.apply_nodes.add(node)
        if reason is not None:
            node.tag.__dict__.setdefault("imported_by", []).append(str(reason))
        for each in [*node.inputs, *node.outputs]:
            if each not in self.variables:
                self._own(each)
        for position, each in enumerate(node.inputs):
            each.clients.append((node, position))
        self.execute_callbacks("on_import", node, reason)

    def _release(self, variable: Any, place: tuple[Any, int], reason: Any) -> None:
        """One use less; what nothing uses any more leaves the graph."""
        pending = [(variable, place)]
        while pending:
            variable, place = pending.pop()
            variable.clients.remove(place)
            if variable.clients:
                continue
            node = variable.owner
            if node is None:
                if variable not in self.inputs:
                    self.variables.remove(variable)
                    del variable.fgraph
            elif not any(output.clients for output in node.outputs):
                node.tag.__dict__.setdefault("removed_by", []).append(str(reason))
                self.apply_nodes.remove(node)
                self.variables.difference_update(node.outputs)
                self.execute_callbacks("on_prune", node, reason)
                pending += [(each, (node, position)) for position, each in enumerate(node.inputs)]

    # --- features ---------------------------------------------------------------------------------

    def attach_feature(self, feature: Any) -> None:
        """Attaches a feature, unless it or its like is there."""
        from symc.theano.gof.toolbox import AlreadyThere

        if feature in self._features:
            return
        if hasattr(feature, "on_attach"):
            try:
                feature.on_attach(self)
            except AlreadyThere:
                return
        self._features.append(feature)

    def remove_feature(self, feature: Any) -> None:
        """Detaches a feature, if it is there."""
        if feature in self._features:
            self._features.remove(feature)
            if hasattr(feature, "on_detach"):
                feature.on_detach(self)

    def execute_callbacks(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Calls a method of all features that have it."""
        for method in self._methods(name):
            method(self, *args, **kwargs)

    def collect_callbacks(self, name: str, *args: Any) -> dict[Any, Any]:
        """As `execute_callbacks`: the results, by feature."""
        return {
            each: getattr(each, name)(self, *args)
            for each in list(self._features) if hasattr(each, name)
        }  # fmt: skip

    def _methods(self, name: str) -> list[Callable[..., Any]]:
        return [getattr(each, name) for each in list(self._features) if hasattr(each, name)]

    def __getstate__(self) -> dict[str, Any]:
        """Without what features put upon the graph: they do so again."""
        state = dict(self.__dict__)
        for feature in self._features:
            for name in getattr(feature, "pickle_rm_attr", ()):
                state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for feature in self._features:
            if hasattr(feature, "unpickle"):
                feature.unpickle(self)

    def __str__(self) -> str:
        return f"[{', '.join(_texts(self))}]"

    def __repr__(self) -> str:
        return str(self)


def _texts(graph: FunctionGraph) -> list[str]:
    """The outputs as text, in which a node that several use is written once."""
    from symc.theano.gof.graph import as_string

    return as_string(graph.inputs, graph.outputs)
