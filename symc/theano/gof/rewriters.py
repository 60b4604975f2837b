"""Rewrites of whole graphs: those of nodes, once or until nothing changes, and merging."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from symc.theano.gof.graph import Constant, io_toposort
from symc.theano.gof.local_rewrites import LocalOptGroup, is_tracked
from symc.theano.gof.toolbox import Feature, ReplaceValidate

__all__ = [
    "EquilibriumOptimizer", "FromFunctionOptimizer", "MergeOptimizer", "NavigatorOptimizer",
    "OpKeyOptimizer", "Optimizer", "SeqOptimizer", "TopoOptimizer", "in2out", "inplace_optimizer",
    "optimizer", "out2in",
]  # fmt: skip

_log = logging.getLogger("theano.gof.opt")
_MOST_PASSES = 500


class Optimizer:
    """A rewrite of a whole graph: `apply` changes the graph by its ``replace_validate``."""

    name: Any = None

    def optimize(self, fgraph: Any, *args: Any, **kwargs: Any) -> Any:
        """Attaches what the rewrite needs, and applies it."""
        self.add_requirements(fgraph)
        return self.apply(fgraph, *args, **kwargs)

    def __call__(self, fgraph: Any) -> Any:
        """As `optimize`."""
        return self.optimize(fgraph)

    def apply(self, fgraph: Any) -> Any:
        """Rewrites the graph."""

    def add_requirements(self, fgraph: Any) -> None:
        """Attaches the features that `apply` needs."""


class FromFunctionOptimizer(Optimizer):
    """A function of a graph as a rewrite."""

    def __init__(self, fn: Any, requirements: Sequence[Any] = ()) -> None:
        self.fn, self.requirements = fn, tuple(requirements)
        self.__name__ = getattr(fn, "__name__", type(fn).__name__)

    def apply(self, fgraph: Any) -> Any:
        return self.fn(fgraph)

    def add_requirements(self, fgraph: Any) -> None:
        for each in self.requirements:
            each(fgraph)

    def __str__(self) -> str:
        return self.__name__


def optimizer(f: Any) -> FromFunctionOptimizer:
    """Makes a rewrite of a function of a graph."""
    return FromFunctionOptimizer(f)


def inplace_optimizer(f: Any) -> FromFunctionOptimizer:
    """As `optimizer`; the graph can check its changes."""
    return FromFunctionOptimizer(f, [lambda graph: graph.attach_feature(ReplaceValidate())])


class SeqOptimizer(Optimizer, list[Any]):
    """Rewrites one after the other."""

    def __init__(self, *opts: Any, failure_callback: Any = None) -> None:
        many = len(opts) == 1 and isinstance(opts[0], list | tuple)
        super().__init__(opts[0] if many else opts)
        self.failure_callback = failure_callback

    def apply(self, fgraph: Any) -> Any:
        for each in self:
            try:
                each.optimize(fgraph)
            except AssertionError:
                raise
            except Exception as error:
                if self.failure_callback is None:
                    raise
                self.failure_callback(error, self, each)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__  # type: ignore[assignment]


class _Imports(Feature):
    """Tells of nodes that come into a graph."""

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self.tell = tell

    def on_import(self, function_graph: Any, node: Any, reason: Any) -> None:
        self.tell(node)


class NavigatorOptimizer(Optimizer):
    """Applies a rewrite of one node to the nodes of a graph.

    Nodes that replacements bring in are visited as well, unless `ignore_newtrees`; "auto": where
    the rewrite says that it can be applied to its own result (``reentrant``).
    """

    def __init__(
        self, local_opt: Any, ignore_newtrees: Any = "auto", failure_callback: Any = None
    ) -> None:
        self.local_opt, self.failure_callback = local_opt, failure_callback
        if ignore_newtrees == "auto":
            ignore_newtrees = not getattr(local_opt, "reentrant", True)
        self.ignore_newtrees = bool(ignore_newtrees)

    def add_requirements(self, fgraph: Any) -> None:
        fgraph.attach_feature(ReplaceValidate())
        if self.local_opt is not None:
            self.local_opt.add_requirements(fgraph)

    def process_node(self, fgraph: Any, node: Any, lopt: Any = None) -> bool:
        """Applies the rewrite to a node: whether that changed the graph."""
        rewrite = lopt or self.local_opt
        try:
            pairs, remove = _pairs(rewrite, node, rewrite.transform(node))
            if not pairs:
                return False
            fgraph.replace_all_validate_remove(pairs, remove=remove, reason=rewrite)
        except Exception as error:
            if self.failure_callback is None:
                raise
            self.failure_callback(error, self, [], rewrite, node)
            return False
        return True

    def visit(self, fgraph: Any, waiting: deque[Any], take: Callable[[], Any]) -> int:
        """Applies the rewrite to all nodes that wait; returns how often it changed something."""
        current: list[Any] = [None]

        def tell(node: Any) -> None:
            if node is not current[0] and self.wants(node):
                waiting.append(node)

        feature = None if self.ignore_newtrees else _Imports(tell)
        if feature is not None:
            fgraph.attach_feature(feature)
        changes = 0
        try:
            while waiting:
                current[0] = take()
                if current[0] in fgraph.apply_nodes:
                    changes += self.process_node(fgraph, current[0])
        finally:
            if feature is not None:
                fgraph.remove_feature(feature)
        return changes

    def wants(self, node: Any) -> bool:
        """Whether a node that came into the graph is visited."""
        del node
        return True


def _pairs(rewrite: Any, node: Any, found: Any) -> tuple[list[tuple[Any, Any]], Sequence[Any]]:
    """What a rewrite's replacements replace, and the nodes that they must remove."""
    if found is False or found is None:
        return [], ()
    if isinstance(found, dict):
        remove = found.get("remove", ())
        pairs = [(old, new) for old, new in found.items() if old != "remove"]
    elif not isinstance(found, list | tuple):
        raise TypeError(
            f"Optimizer {rewrite} gave wrong type of replacement. Expected list or tuple. "
            f"Got {found}"
        )
    elif len(found) != len(node.outputs):
        raise ValueError(f"Optimizer {rewrite} gave wrong number of replacements")
    else:
        remove, pairs = (), list(zip(node.outputs, found, strict=True))
    # None stands for an output that nobody uses.
    kept = [(old, new) for old, new in pairs if new is not None and new is not old]
    return kept, remove


class TopoOptimizer(NavigatorOptimizer):
    """Applies a rewrite of one node once along the graph, "in_to_out" or "out_to_in"."""

    def __init__(
        self, local_opt: Any, order: str = "in_to_out", ignore_newtrees: Any = False,
        failure_callback: Any = None,
    ) -> None:  # fmt: skip
        if order not in ("in_to_out", "out_to_in"):
            raise ValueError("order must be 'out_to_in' or 'in_to_out'")
        self.order = order
        super().__init__(local_opt, ignore_newtrees, failure_callback)

    def apply(self, fgraph: Any, start_from: Any = None) -> Any:
        nodes = deque(io_toposort(fgraph.inputs, start_from or fgraph.outputs))
        return self.visit(fgraph, nodes, nodes.popleft if self.order == "in_to_out" else nodes.pop)


def _along(order: str) -> Callable[..., TopoOptimizer]:
    def make(*local_opts: Any, **kwargs: Any) -> TopoOptimizer:
        """A `TopoOptimizer` of some rewrites of one node."""
        name = kwargs.pop("name", None)
        one = local_opts[0] if len(local_opts) == 1 else LocalOptGroup(*local_opts)
        made = TopoOptimizer(one, order=order, **kwargs)
        made.name = name
        return made

    return make


in2out, out2in = _along("in_to_out"), _along("out_to_in")


class OpKeyOptimizer(NavigatorOptimizer):
    """Applies a rewrite of one node to the nodes of its op."""

    def __init__(
        self, local_opt: Any, ignore_newtrees: bool = False, failure_callback: Any = None
    ) -> None:
        if not hasattr(local_opt, "op_key"):
            raise TypeError(f"{local_opt} must have an op_key method.")
        super().__init__(local_opt, ignore_newtrees, failure_callback)

    def wants(self, node: Any) -> bool:
        return bool(node.op == self.local_opt.op_key())

    def apply(self, fgraph: Any) -> Any:
        nodes = deque(node for node in fgraph.toposort() if self.wants(node))
        return self.visit(fgraph, nodes, nodes.pop)


class EquilibriumOptimizer(NavigatorOptimizer):
    """Applies rewrites, of one node and of the whole graph, until none of them changes anything.

    Where a rewrite was applied more than `max_use_ratio` times as often as there are nodes, that is
    the end, with a line in the log.
    """

    def __init__(
        self, optimizers: Sequence[Any], failure_callback: Any = None, ignore_newtrees: bool = True,
        tracks_on_change_inputs: bool = False, max_use_ratio: Any = None,
        final_optimizers: Sequence[Any] = (), cleanup_optimizers: Sequence[Any] = (),
    ) -> None:  # fmt: skip
        del tracks_on_change_inputs
        assert max_use_ratio is not None, "max_use_ratio has to be a number"
        super().__init__(None, ignore_newtrees, failure_callback)
        self.max_use_ratio = max_use_ratio
        self.local_optimizers_all = [each for each in optimizers if hasattr(each, "transform")]
        self.global_optimizers = [each for each in optimizers if not hasattr(each, "transform")]
        self.final_optimizers = list(final_optimizers or ())
        self.cleanup_optimizers = list(cleanup_optimizers or ())

    def get_local_optimizers(self) -> Iterator[Any]:
        """The rewrites of one node."""
        return iter(self.local_optimizers_all)

    def add_requirements(self, fgraph: Any) -> None:
        super().add_requirements(fgraph)
        for each in [*self.local_optimizers_all, *self.global_optimizers]:
            each.add_requirements(fgraph)

    def apply(self, fgraph: Any, start_from: Any = None) -> Any:
        counts: Counter[Any] = Counter()
        most = passes = 0
        changed = True
        while changed and passes < _MOST_PASSES:  # a rewrite may make the graph grow for ever
            passes += 1
            most = max(most, len(fgraph.apply_nodes))
            changed = self._globally(fgraph, self.global_optimizers, counts)
            nodes = deque(io_toposort(fgraph.inputs, start_from or fgraph.outputs))
            while nodes:
                changed |= self._locally(fgraph, nodes.pop(), counts)
            self._globally(fgraph, self.cleanup_optimizers, Counter())
            changed |= self._globally(fgraph, self.final_optimizers, counts)
            for rewrite, count in counts.items():
                if count > most * self.max_use_ratio:
                    _log.error("EquilibriumOptimizer max'ed out by '%s'", rewrite)
                    changed = False

    def _locally(self, fgraph: Any, node: Any, counts: Counter[Any]) -> bool:
        """Applies the rewrites of one node to it, while it is there: whether one changed it."""
        found = False
        for each in self.local_optimizers_all:
            if node not in fgraph.apply_nodes:
                break
            if is_tracked(each, node.op) and self.process_node(fgraph, node, each):
                counts[each] += 1
                found = True
        return found

    def _globally(self, fgraph: Any, rewrites: Sequence[Any], counts: Counter[Any]) -> bool:
        """Applies rewrites of the whole graph: whether one changed it."""
        found = False
        for each in rewrites:
            before = fgraph.checkpoint()
            each.optimize(fgraph)
            if fgraph.checkpoint() != before:
                counts[each] += 1
                found = True
        return found


class MergeOptimizer(Optimizer):
    """Makes one of nodes with equal ops upon the same inputs, and one of equal constants."""

    def add_requirements(self, fgraph: Any) -> None:
        fgraph.attach_feature(ReplaceValidate())

    def apply(self, fgraph: Any) -> Any:
        constants: list[Any] = []
        nodes: dict[Any, Any] = {}
        for node in fgraph.toposort():
            for each in node.inputs:
                if isinstance(each, Constant):
                    same = next((other for other in constants if other.equals(each)), None)
                    if same is None:
                        constants.append(each)
                    elif same is not each:
                        fgraph.replace_validate(each, same, reason="MergeOptimizer")
            key = (node.op, tuple(node.inputs))
            first = nodes.setdefault(key, node)
            if first is not node:
                pairs = list(zip(node.outputs, first.outputs, strict=True))
                for old, new in pairs:
                    new.name = new.name or old.name
                fgraph.replace_all_validate(pairs, reason="MergeOptimizer")
