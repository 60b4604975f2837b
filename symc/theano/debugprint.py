"""`debugprint`: a graph as a tree of lines, with an id for each variable and application."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from io import StringIO
from typing import Any

from symc.theano.gof.fg import FunctionGraph
from symc.theano.gof.graph import Apply, Constant, Variable


def _letters(number: int) -> str:
    found = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        found = chr(ord("A") + digit) + found
    return found


class Tree:
    """The lines of a graph, as Theano writes them."""

    def __init__(
        self, ids: str, print_type: bool, stop_on_name: bool, storage: bool, clients: bool
    ) -> None:
        if ids not in ("CHAR", "int", "id", "auto", ""):
            raise ValueError(f"ids is CHAR, int, id, auto or empty, not {ids!r}")
        self.ids, self.print_type, self.stop_on_name = ids, print_type, stop_on_name
        self.storage, self.clients = storage, clients
        self.names: dict[Any, str] = {}
        self.done: set[Any] = set()
        self.lines: list[str] = []

    def _id(self, thing: Any) -> str:
        if thing not in self.names:
            number = len(self.names)
            self.names[thing] = {
                "CHAR": _letters(number), "int": str(number), "id": str(id(thing)),
                "auto": getattr(thing, "auto_name", str(number)), "": "",
            }[self.ids]  # fmt: skip
        return f"[id {self.names[thing]}]" if self.ids else ""

    def add(
        self, variable: Any, depth: int, order: list[Apply], prefix: str = "", below: str = "",
        of_output: bool = False,
    ) -> None:  # fmt: skip
        """Adds the lines of a variable and what it is computed from."""
        if depth == 0:
            return
        kind = f" <{variable.type}>" if self.print_type else ""
        node = variable.owner
        if node is None:
            value = self._value(variable)
            self.lines.append(f"{prefix}{variable} {self._id(variable)}{kind}{value}")
            return
        known = node in self.done
        where = "" if len(node.outputs) == 1 else f".{variable.index}"
        name = variable.name or ""
        place = str(order.index(node)) if node in order else ""
        self.lines.append(
            f"{prefix}{node.op}{where} {self._id(node)}{kind} '{name}'   {place}"
            f"{self._value(variable)}{self._uses(variable)}"
        )
        if known or (self.stop_on_name and name and not of_output):
            return
        self.done.add(node)
        last = len(node.inputs) - 1
        for position, each in enumerate(node.inputs):
            self.add(
                each, depth - 1, order, below + " |",
                below + (" |" if position < last else "  "),
            )  # fmt: skip

    def _value(self, variable: Any) -> str:
        """What the memory of a variable holds between calls, where that is wanted."""
        if not self.storage:
            return ""
        container = getattr(variable, "container", None)
        held = variable.data if isinstance(variable, Constant) else getattr(container, "data", None)
        return f" {[held]}"

    def _uses(self, variable: Any) -> str:
        """Where a variable is used, if that is wanted and in several places."""
        places = getattr(variable, "clients", []) if self.clients else []
        if len(places) < 2:
            return ""
        found: list[Any] = []
        for client, position in places:
            own = self._id(client)
            found.append(("output", "") if client == "output" else (own, position))
        return f" clients:{found}"


def _graphs(obj: Any) -> tuple[list[Any], list[Apply]]:
    """The variables to print of something, and the order of the applications if it has one."""
    if isinstance(obj, list | tuple | set):
        found: list[Any] = []
        order: list[Apply] = []
        for each in obj:
            variables, its = _graphs(each)
            found += variables
            order += its
        return found, order
    if isinstance(obj, Variable):
        return [obj], []
    if isinstance(obj, Apply):
        return list(obj.outputs), []
    graph = (
        obj
        if isinstance(obj, FunctionGraph)
        else getattr(getattr(obj, "maker", None), "fgraph", None)
    )
    if graph is None:
        raise TypeError("debugprint cannot print an object of this type", obj)
    return list(graph.outputs), graph.toposort()


def debugprint(
    obj: Any, depth: Any = -1, print_type: bool = False, file: Any = None, ids: str = "CHAR",
    stop_on_name: bool = False, done: Any = None, print_storage: bool = False,
    print_clients: bool = False, used_ids: Any = None,
) -> Any:  # fmt: skip
    """Writes a graph as a tree of lines; to `file`, or returned where that is "str"."""
    del done
    if not isinstance(depth, int):
        raise Exception("depth parameter must be an int")
    variables, order = _graphs(obj)
    tree = Tree(ids, print_type, stop_on_name, print_storage, print_clients)
    if used_ids is not None:
        tree.names = used_ids
    for each in variables:
        tree.add(each, depth, order, of_output=True)
    scans = _inner(variables)
    if scans:
        tree.lines += ["", "Inner graphs of the scan ops:"]
    node: Any
    for node in scans:
        tree.lines += ["", f"{node.op} {tree._id(node)} ''"]  # pyright: ignore[reportPrivateUsage]
        for each in node.op.step.outputs:
            tree.add(each, depth, order, " >", "  ", of_output=True)
    text = "".join(f"{line}\n" for line in tree.lines)
    if file == "str":
        return text
    out = sys.stdout if file is None else file
    out.write(text)
    return out


def _inner(variables: Iterable[Any]) -> list[Apply]:
    """The loops of graphs, whose steps are graphs of their own."""
    from symc.theano.gof.graph import io_toposort

    nodes = io_toposort([], list(variables))
    return [node for node in nodes if type(node.op).__name__ == "Scan"]


def identified(graphs: Any) -> dict[str, Any]:
    """The variable or application for each id that `debugprint` shows."""
    names: dict[Any, str] = {}
    debugprint(graphs, file=StringIO(), used_ids=names)
    return {name: thing for thing, name in names.items()}
