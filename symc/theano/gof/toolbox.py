"""Features of function graphs: what is told of changes, and keeps something or refuses them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

from symc.theano.gof.fg import InconsistencyError

_log = logging.getLogger("theano.gof.toolbox")


class AlreadyThere(Exception):
    """A graph has such a feature already."""


class ReplacementDidntRemovedError(Exception):
    """A replacement was to remove a node, which is still there."""


class BadOptimization(Exception):
    """A replacement has other values."""

    def __init__(self, old_r: Any, new_r: Any = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(old_r, new_r, *args)
        self.old_r, self.new_r = old_r, new_r
        self.__dict__.update(kwargs)


class Feature:
    """What a graph tells of its changes; a subclass has the methods that it wants."""

    def on_attach(self, function_graph: Any) -> None:
        """The feature is attached. Raises `AlreadyThere` if that is not wanted."""

    def on_detach(self, function_graph: Any) -> None:
        """The feature is removed."""

    def on_import(self, function_graph: Any, node: Any, reason: Any) -> None:
        """A node came into the graph."""

    def on_prune(self, function_graph: Any, node: Any, reason: Any) -> None:
        """A node left the graph."""

    def on_change_input(
        self, function_graph: Any, node: Any, i: int, r: Any, new_r: Any, reason: Any = None
    ) -> None:
        """Input `i` of a node was `r` and is `new_r`."""

    def orderings(self, function_graph: Any) -> dict[Any, list[Any]]:
        """What has to come before a node, beside its inputs."""
        del function_graph
        return {}


class Bookkeeper(Feature):
    """A feature that is told of the nodes that are there before it."""

    def on_attach(self, function_graph: Any) -> None:
        for node in function_graph.toposort():
            self.on_import(function_graph, node, "on_attach")

    def on_detach(self, function_graph: Any) -> None:
        for node in function_graph.toposort():
            self.on_prune(function_graph, node, "Bookkeeper.detach")


class _Offering(Feature):
    """A feature that puts functions upon its graph: `offers` has their names and methods."""

    offers: ClassVar[dict[str, str]] = {}

    @property
    def pickle_rm_attr(self) -> list[str]:
        """What a pickled graph does without."""
        return list(self.offers)

    def on_attach(self, function_graph: Any) -> None:
        if any(hasattr(function_graph, name) for name in self.offers):
            raise AlreadyThere(f"{type(self).__name__} is already there, or another like it")
        self.unpickle(function_graph)

    def unpickle(self, fgraph: Any) -> None:
        """Puts the functions upon the graph."""
        for name, method in self.offers.items():
            setattr(fgraph, name, partial(getattr(self, method), fgraph))

    def on_detach(self, function_graph: Any) -> None:
        for name in self.offers:
            delattr(function_graph, name)


class History(_Offering):
    """Changes, which can be taken back: ``graph.revert(graph.checkpoint())``."""

    offers: ClassVar[dict[str, str]] = {"checkpoint": "_checkpoint", "revert": "_revert"}

    def __init__(self) -> None:
        self.history: dict[Any, list[Callable[[], None]]] = {}
        self._reverting = False

    def on_change_input(
        self, function_graph: Any, node: Any, i: int, r: Any, new_r: Any, reason: Any = None
    ) -> None:
        if not self._reverting:
            undo = partial(function_graph.change_input, node, i, r, reason=("Revert", reason))
            self.history.setdefault(id(function_graph), []).append(undo)

    def _checkpoint(self, fgraph: Any) -> int:
        return len(self.history.get(id(fgraph), ()))

    def _revert(self, fgraph: Any, checkpoint: Any) -> None:
        changes = self.history.get(id(fgraph), [])
        self._reverting = True
        try:
            while len(changes) > checkpoint:
                changes.pop()()
        finally:
            self._reverting = False

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "history": {}}


class Validator(_Offering):
    """``graph.validate()`` asks all features whether the graph may be as it is."""

    offers: ClassVar[dict[str, str]] = {"validate": "_validate", "consistent": "_consistent"}

    def _validate(self, fgraph: Any) -> None:
        fgraph.execute_callbacks("validate")

    def _consistent(self, fgraph: Any) -> bool:
        try:
            fgraph.validate()
        except Exception:
            return False
        return True


class ReplaceValidate(History, Validator):
    """Replacements that are taken back where a feature refuses the graph."""

    offers: ClassVar[dict[str, str]] = {
        **History.offers, **Validator.offers, "replace_validate": "replace_validate",
        "replace_all_validate": "replace_all_validate",
        "replace_all_validate_remove": "replace_all_validate_remove",
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._nodes_removed: set[Any] = set()
        self._failed = False

    def replace_validate(self, fgraph: Any, r: Any, new_r: Any, reason: Any = None) -> None:
        """One replacement."""
        self.replace_all_validate(fgraph, [(r, new_r)], reason)

    def replace_all_validate(
        self, fgraph: Any, replacements: Iterable[tuple[Any, Any]], reason: Any = None,
        verbose: Any = None,
    ) -> Any:  # fmt: skip
        """Several replacements, all or none of them."""
        before = fgraph.checkpoint()
        try:
            for r, new_r in replacements:
                fgraph.replace(r, new_r, reason, verbose)
            fgraph.validate()
        except Exception:
            fgraph.revert(before)
            raise
        return before

    def replace_all_validate_remove(
        self, fgraph: Any, replacements: Iterable[tuple[Any, Any]], remove: Sequence[Any],
        reason: Any = None, warn: bool = True,
    ) -> None:  # fmt: skip
        """Several replacements, taken back if one of the nodes `remove` is still there."""
        before = fgraph.replace_all_validate(replacements, reason)
        self._nodes_removed.update(remove)
        if any(each in fgraph.apply_nodes or each in fgraph.variables for each in remove):
            fgraph.revert(before)
            if warn:
                _log.warning("%s does not remove what it replaces", reason)
            raise ReplacementDidntRemovedError

    def on_import(self, function_graph: Any, node: Any, reason: Any) -> None:
        self._failed = self._failed or node in self._nodes_removed

    def validate(self, fgraph: Any) -> None:
        """Raises if a node came back that a replacement was to remove."""
        del fgraph
        failed, self._failed = self._failed, False
        if failed:
            raise InconsistencyError("Trying to reintroduce a removed node")


class NodeFinder(Bookkeeper):
    """``graph.get_nodes(op)``: the nodes of an op."""

    def __init__(self) -> None:
        self.fgraph: Any = None
        self.d: dict[Any, list[Any]] = {}

    def on_attach(self, function_graph: Any) -> None:
        if self.fgraph is not None:
            raise Exception("A NodeFinder instance can only serve one FunctionGraph.")
        if hasattr(function_graph, "get_nodes"):
            raise AlreadyThere("NodeFinder is already there, or another like it")
        self.fgraph = function_graph
        function_graph.get_nodes = partial(self.query, function_graph)
        super().on_attach(function_graph)

    def on_detach(self, function_graph: Any) -> None:
        if self.fgraph is not function_graph:
            raise Exception("This NodeFinder instance was not attached to the provided fgraph.")
        self.fgraph = None
        del function_graph.get_nodes
        super().on_detach(function_graph)

    def on_import(self, function_graph: Any, node: Any, reason: Any) -> None:
        self.d.setdefault(node.op, []).append(node)

    def on_prune(self, function_graph: Any, node: Any, reason: Any) -> None:
        self.d[node.op].remove(node)

    def query(self, fgraph: Any, op: Any) -> list[Any]:
        """The nodes of an op."""
        del fgraph
        return list(self.d.get(op, ()))


class PrintListener(Feature):
    """Prints every change."""

    def __init__(self, active: bool = True) -> None:
        self.active = active

    def _say(self, *words: object) -> None:
        if self.active:
            print("--", *words)  # noqa: T201 -- it is there to print

    def on_attach(self, function_graph: Any) -> None:
        self._say("attaching to:", function_graph)

    def on_detach(self, function_graph: Any) -> None:
        self._say("detaching from:", function_graph)

    def on_import(self, function_graph: Any, node: Any, reason: Any) -> None:
        self._say(f"importing: {node}, reason: {reason}")

    def on_prune(self, function_graph: Any, node: Any, reason: Any) -> None:
        self._say(f"pruning: {node}, reason: {reason}")

    def on_change_input(
        self, function_graph: Any, node: Any, i: int, r: Any, new_r: Any, reason: Any = None
    ) -> None:
        self._say(f"changing ({node}.inputs[{i}]) from {r} to {new_r}")


class PreserveVariableAttributes(Feature):
    """A replacement takes over the name and the tag of what it replaces."""

    def on_change_input(
        self, function_graph: Any, node: Any, i: int, r: Any, new_r: Any, reason: Any = None
    ) -> None:
        if r.name is not None and new_r.name is None:
            new_r.name = r.name
        if getattr(r.tag, "nan_guard_mode_check", False):
            new_r.tag.nan_guard_mode_check = True


class PreserveNames(PreserveVariableAttributes):
    """A replacement takes over the name of what it replaces."""


class NoOutputFromInplace(Feature):
    """Refuses graphs whose outputs overwrite their inputs."""

    def __init__(self, first_output_idx: int = 0, last_output_idx: int | None = None) -> None:
        self.first_output_idx, self.last_output_idx = first_output_idx, last_output_idx

    def validate(self, fgraph: Any) -> None:
        """Raises for an output that is computed in place."""
        for each in fgraph.outputs[self.first_output_idx : self.last_output_idx]:
            if each.owner is not None and each.index in each.owner.op.destroy_map:
                raise InconsistencyError(
                    f"A function graph Feature has requested that outputs of the graph be "
                    f"prevented from being the result of in-place operations. This has prevented "
                    f"output {each} from being computed by modifying another variable in-place."
                )
