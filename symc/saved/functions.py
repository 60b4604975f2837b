"""`save` and `load`, and how functions, tensors and shared variables pickle.

A pickle holds inputs and shared variables as objects of their own: two functions that share a
variable still do when both come from one pickle. A file holds one function and all of its state.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from symc.calls.callable import Function
from symc.calls.in_out import In, given_away
from symc.calls.modes import mode_named
from symc.errors import BadFile, DeviceError
from symc.graph.inputs import Input, SharedVariable, shared, tensor
from symc.graph.node import Array, Tensor
from symc.graph.packed import Packing
from symc.graph.request import Request
from symc.saved import archive
from symc.saved.bodies import check_slots
from symc.saved.document import NOT_THE_FILES_FAULT, WRONG, Document, nodes_of
from symc.saved.frozen import once
from symc.saved.values import whole
from symc.version import VERSION

if TYPE_CHECKING:
    from os import PathLike


def save(function: Function, path: str | PathLike[str]) -> None:
    """Writes a function with its graph and the values of its shared variables to a file.

    `load` makes the function again, on another machine too: it is compiled there, or found in the
    cache. The file is a zip archive of JSON and arrays; no Python objects are in it.

    Raises `CannotSave` if the function calls Python functions of the user's.

    >>> import pathlib, tempfile, symc, symc.tensor as T
    >>> x, w = T.vector("x"), symc.shared(2.0, name="w")
    >>> f = symc.function([x], x * w, updates=[(w, w + 1)])
    >>> place = pathlib.Path(tempfile.mkdtemp(), "f.symc")
    >>> f([1.0]), symc.save(f, place)
    (array([2.]), None)
    >>> symc.load(place)([1.0])
    array([3.])
    """
    if not isinstance(cast("object", function), Function):
        raise TypeError(f"save takes a function that symc.function made, not {function!r}")
    text, leaves, arrays = _document_of(function)
    described = [_described(leaf, arrays) for leaf in leaves]
    text |= {"symc": VERSION, "leaves": described}
    archive.write(Path(path), text, arrays)


def load(
    path: str | PathLike[str], *, device: str | None = None, mode: str | None = None
) -> Function:
    """The function in a file that `save` wrote, with shared variables of its own.

    `Function.shared` has those. `device` and `mode` override those the function was made for.
    Files of format 1 can be read, which symc has written since 0.1.

    Raises `BadFile` for a file that is damaged, or was written by a later symc, or not by symc.

    >>> import symc, symc.tensor as T
    >>> import pathlib, tempfile
    >>> x = T.vector("x")
    >>> file = pathlib.Path(tempfile.mkdtemp(), "double.symc")
    >>> symc.save(symc.function([x], x * 2, mode="python"), file)
    >>> symc.load(file)([1.0, 2.0])
    array([2., 4.])
    """
    document, arrays = archive.read(Path(path))
    try:
        # A damaged graph can raise anything; errors of this machine say nothing about the file.
        described = document.get("leaves")
        if not isinstance(described, list):
            raise BadFile("it lists no inputs")
        entries = described
        leaves = [_leaf(entry, arrays, device) for entry in entries]
        return _function_of(document, leaves, arrays, device=device, mode=mode, from_file=True)
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from error.__cause__
    except NOT_THE_FILES_FAULT:
        raise
    except Exception as error:
        raise BadFile(f"{path}: its function cannot be made: {error!s:.500}") from error


# --- functions ------------------------------------------------------------------------------------


def _document_of(function: Function) -> tuple[dict[str, Any], list[Tensor], list[Array]]:
    """A function as JSON, and the leaves and arrays that it refers to."""
    request, document = function.request, Document()
    pending = [v.default_update for v in request.shared if v.default_update is not None]
    text: dict[str, Any] = {
        "name": request.name,
        "inputs": document.add(request.inputs),
        "shared": document.add(request.shared),
        "outputs": document.add(request.outputs),
        "updates": [document.add(pair) for pair in request.updates],
        "device": request.device,
        "on_device": list(request.on_device),
        "contracts": request.contracts,
        "mode": function.mode,
        "form": function.form,
        "keys": function.keys,
        "takes": _packing_as_text(function.takes),
        "gives": _packing_as_text(function.gives),
    }
    document.add(pending)
    text["defaults"] = [
        document.add([leaf, leaf.default_update])
        for leaf in document.leaves
        if isinstance(leaf, SharedVariable) and leaf.default_update is not None
    ]
    arrays = list(document.arrays)
    text["arguments"] = [_argument(item, arrays) for item in function.ins]
    return text | {"nodes": document.nodes}, document.leaves, arrays


def _argument(item: In, arrays: list[Array]) -> dict[str, Any]:
    default: int | None = None
    if item.value is not None:
        default = len(arrays)
        arrays.append(np.asarray(item.value))
    return {
        "name": item.name, "default": default, "allow_downcast": item.allow_downcast,
        "mutable": item.mutable,
    }  # fmt: skip


def _function_of(
    text: dict[str, Any],
    leaves: Sequence[Tensor],
    arrays: Sequence[Array],
    *,
    device: str | None = None,
    mode: str | None = None,
    from_file: bool = False,
) -> Function:
    """The function that some JSON describes."""
    nodes = nodes_of(text.get("nodes"), leaves, arrays)
    match text:
        case {
            "name": str(name), "inputs": list(inputs), "shared": list(held),
            "outputs": list(outputs), "updates": list(updates), "device": str(own_device),
            "on_device": list(stays), "mode": str(own_mode), "form": str(form),
            "keys": list(keys), "defaults": list(defaults), "arguments": list(arguments),
        }:  # fmt: skip
            pass
        case _:
            raise BadFile("it describes no function")

    def pick(numbers: Any) -> tuple[Any, ...]:
        if not isinstance(numbers, list):
            raise BadFile("nodes are given by lists of numbers")
        return tuple(nodes[whole(n, len(nodes))] for n in numbers)

    def pair(numbers: Any) -> tuple[SharedVariable, Any]:
        match pick(numbers):
            case (old, new):
                return _shared(old), new
            case _:
                raise BadFile("an update is a variable and its new value")

    for variable, update in map(pair, defaults):
        variable.default_update = update
    variables = tuple(map(_input, pick(inputs)))
    if len(arguments) != len(variables):
        raise BadFile(f"{len(arguments)} arguments for {len(variables)} inputs")
    where = device or own_device
    ins = [_in(x, entry, arrays) for x, entry in zip(variables, arguments, strict=True)]
    request = Request(
        _checked_name(name), variables, tuple(map(_shared, pick(held))),
        pick(outputs), tuple(map(pair, updates)), where, tuple(map(bool, stays)), from_file,
        given_away(ins, variables, where, str(mode or own_mode)),
        contracts=text.get("contracts") is not False,  # older files do not say
    )  # fmt: skip
    check_slots(request.roots())
    if form not in ("one", "list", "dict", "none"):
        raise BadFile(f"no function returns {form!r:.20}")
    try:
        chosen = mode_named(mode or own_mode)
        names, packings = [str(key) for key in keys], _packings(text, request)
        return Function(request, ins, form, names, chosen, **packings)
    except DeviceError as error:
        raise _elsewhere(error) from error
    except NOT_THE_FILES_FAULT:
        raise
    except WRONG as error:
        raise BadFile(f"its function cannot be made: {error!s:.500}") from error


def _packing_as_text(packing: Packing | None) -> list[Any] | None:
    if packing is None:
        return None
    names = packing.names or (None,) * len(packing.kinds)
    return [[*kind, name] for kind, name in zip(packing.kinds, names, strict=True)]


def _packings(text: dict[str, Any], request: Request) -> dict[str, Any]:
    """Those of the arguments and of the results, by the names that functions have for them."""
    counts = {"takes": len(request.inputs), "gives": len(request.outputs)}
    return {name: _packing(text.get(name), count) for name, count in counts.items()}


def _packing(entries: Any, arrays: int) -> Packing | None:
    """How arrays make up values; files written before there were such values do not say it."""
    if entries is None:
        return None
    kinds: list[tuple[str, int]] = []
    names: list[str | None] = []
    for entry in entries if isinstance(entries, list) else [None]:
        match entry:
            case ["" | "csr" | "csc" as kind, int(count), str() | None as name] if count > 0:
                kinds.append((kind, count))
                names.append(name)
            case _:
                raise BadFile("it describes a value in no way known")
    if sum(count for _, count in kinds) != arrays:
        raise BadFile("its values have another number of arrays")
    return Packing(kinds, names)


def _elsewhere(error: DeviceError) -> DeviceError:
    """The error for a function that was made for a device that is not here."""
    return DeviceError(error.code, f'{error}\n  symc.load(path, device="cpu") takes it elsewhere')


def _input(node: Tensor) -> Tensor:
    if not isinstance(node.op, Input):
        raise BadFile(f"{node!r} is no input")
    return node


def _shared(node: Tensor) -> SharedVariable:
    if not isinstance(node, SharedVariable):
        raise BadFile(f"{node!r} is no shared variable")
    return node


def _checked_name(name: str) -> str:
    if not name.isidentifier() or not name.isascii():
        raise BadFile(f"{name!r:.80} cannot be the name of a function")
    return name


def _in(variable: Tensor, entry: Any, arrays: Sequence[Array]) -> In:
    match entry:
        case {
            "name": str() | None as name,
            "default": int() | None as place,
            "allow_downcast": bool() | None as downcast,
        }:
            default = None if place is None else arrays[whole(place, len(arrays))]
            mutable = entry.get("mutable") is True  # older files do not say
            return In(variable, name, default, downcast, mutable=mutable)
        case _:
            raise BadFile("it describes an argument in no way known")


# --- leaves in files ------------------------------------------------------------------------------


def _described(leaf: Tensor, arrays: list[Array]) -> dict[str, Any]:
    """An input or a shared variable as JSON; a value is added to the arrays."""
    op: Any = leaf.op
    text: dict[str, Any] = {
        "name": leaf.name, "dtype": leaf.dtype.name, "shape": list(op.declared),
    }  # fmt: skip
    if isinstance(leaf, SharedVariable):
        text |= {"value": len(arrays), "device": leaf.device}
        arrays.append(leaf.get_value())
    return text


def _leaf(entry: Any, arrays: Sequence[Array], device: str | None) -> Tensor:
    try:
        match entry:
            case {"value": place, "name": str() | None as name, "device": str() | None as own}:
                value = arrays[whole(place, len(arrays))]
                home = device or own
                return shared(value, name, dtype=entry["dtype"], shape=_lengths(entry), device=home)
            case {"name": str() | None as name, "dtype": str(dtype)}:
                return tensor(dtype, _lengths(entry), name)
            case _:
                raise BadFile("it describes an input in no way known")
    except DeviceError as error:
        raise _elsewhere(error) from error
    except WRONG as error:
        raise BadFile(f"an input cannot be made: {error!s:.500}") from error


def _lengths(entry: dict[str, Any]) -> tuple[int | None, ...]:
    shape = entry.get("shape")
    if not isinstance(shape, list):
        raise BadFile("an input has no shape")
    given = shape
    if not all(n is None or (type(n) is int and n >= 0) for n in given):
        raise BadFile("a length is a number, or not known")
    return tuple(given)


# --- pickles --------------------------------------------------------------------------------------

_tokens: WeakKeyDictionary[Tensor, str] = WeakKeyDictionary()
_inputs: WeakValueDictionary[tuple[str, str | None], Tensor] = WeakValueDictionary()


def reduce_function(function: Function) -> tuple[Any, ...]:
    """How a function pickles: JSON, arrays, and its inputs and shared variables as objects."""
    return _new_function, _document_of(function)


def reduce_tensor(node: Tensor) -> tuple[Any, ...]:
    """How a tensor pickles."""
    if isinstance(node, SharedVariable):
        made = (node.get_value(), node.name, node.op.declared, node.device)
        # The state is set when the variable is there already, to which the update refers.
        return _new_shared, made, (None, {"default_update": node.default_update})
    if isinstance(node.op, Input):
        return _new_input, (node.dtype.name, node.op.declared, node.name, _token(node))
    document = Document()
    document.add([node])
    return _new_node, (document.nodes, document.leaves, document.arrays)


def _new_shared(
    value: Array, name: str | None, declared: tuple[int | None, ...], device: str | None
) -> SharedVariable:
    return shared(value, name, shape=declared, device=device)


def _token(node: Tensor) -> str:
    """What no other input has in any process."""
    found = _tokens.get(node)
    if found is None:
        found = _tokens[node] = uuid4().hex
    _inputs[found, node.name] = node
    return found


def _new_input(
    dtype: str, declared: tuple[int | None, ...], name: str | None, token: str | None = None
) -> Tensor:
    """An input that was pickled: the same object, as long as the process has it."""
    found = None if token is None else _inputs.get((token, name))
    if found is not None and found.name == name:
        return found
    made = tensor(dtype, declared, name)
    if token is not None:
        _tokens[made], _inputs[token, name] = token, made
    return made


def _new_function(text: dict[str, Any], leaves: list[Tensor], arrays: list[Array]) -> Function:
    """A function that was pickled. One without state is made once a process: see `frozen.py`."""
    if any(isinstance(leaf, SharedVariable) for leaf in leaves):
        return _function_of(text, leaves, arrays)
    contents = json.dumps(text), *((each.dtype, each.shape, each.tobytes()) for each in arrays)
    return once((*contents, *leaves), lambda: _function_of(text, leaves, arrays))


def _new_node(entries: list[Any], leaves: list[Tensor], arrays: list[Array]) -> Tensor:
    return nodes_of(entries, leaves, arrays)[-1]
