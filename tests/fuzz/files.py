"""Damaged files of saved functions: as a bad disk, a careless program or a forger makes them.

`damaged` changes a good file at random, by a seed: its bytes, the archive's parts, the headers of
its arrays, or its JSON, so that checksums are right again. `outcome` loads it, and calls the
function that was loaded, in a process of its own with little memory: it may be refused by
`BadFile`, or run, or raise an error of symc's when it is called; never anything else.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import random
import resource
import tempfile
import traceback
import warnings
import zipfile
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

import symc
import symc.tensor as T
from symc.errors import BadFile, SymcError
from symc.saved import archive

MEMORY = 3 << 30  # bytes of addresses that a file of some kilobytes may make a process take
SECONDS = 120  # of processor
NO_LIMIT = resource.RLIM_INFINITY

NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 63, 64, 1000, 2**20, 2**31, 2**31 - 1, 2**61 + 1, 2**62, 2**63 - 1, 2**63,
    -(2**63), 2**64, 10**30, 1.5, 1e308, True, False, None, "0", [], {},
)  # fmt: skip
TEXTS: tuple[Any, ...] = (
    "", "x", "\0", "\n", "\udcff", "é", "a" * 5000, "float16", "complex128", "bool", "int8",
    "uint64", "object", "python", "default", "cpu", "__class__", "0x1p99999", "nan", "*/", None, 0,
)  # fmt: skip
DTYPES: tuple[Any, ...] = (
    "<f8", ">f8", "<i8", "|b1", "|O", "<U4", "<f4", [("a", "<f8")], "<M8[s]", "f8,f8", 7, None,
)  # fmt: skip


# --- good files -----------------------------------------------------------------------------------


def _step() -> symc.Function:
    x, y = T.matrix("x"), T.vector("y", dtype="int64")
    w = symc.shared(np.linspace(-1, 1, 12).reshape(3, 4), name="w")
    p = T.softmax(x @ w)
    loss = -T.log(p)[T.arange(y.shape[0]), y].mean()
    return symc.function(
        [x, symc.In(y, value=np.array([0, 1]))], {"loss": loss, "p": p},
        updates=[(w, w - 0.1 * symc.grad(loss, w))], name="step", mode="python",
    )  # fmt: skip


def _shapes() -> symc.Function:
    x, n = T.matrix("x"), T.lscalar("n")
    parts = [
        x[::-1, 1:], x.reshape((-1,))[: n + 1], T.concatenate([x, x * 2], axis=1).sum(0),
        T.pad(x, (1, 2)), T.tile(x, (2, 1)), x.T[0].cumsum(), T.sort(x, axis=1), x.argmax(1),
        x[0].inc(1.0), T.diag(x[0]), T.repeat(x, 2, axis=0), T.where(x > 0, x, -x).max(),
    ]  # fmt: skip
    return symc.function([x, n], parts, name="shapes", mode="python")


def _loop() -> symc.Function:
    x, n = T.vector("x"), T.lscalar("n")
    states, _ = symc.scan(
        lambda row, state: state * row + T.exp(-state), sequences=[x],
        outputs_info=[T.constant(1.0)],
    )  # fmt: skip
    chosen = symc.ifelse(n > 1, states, states * 2)
    return symc.function([x, n], [states, chosen], name="loop", mode="python")


def _linear() -> symc.Function:
    a, b = T.matrix("a"), T.vector("b")
    spd = a @ a.T + T.eye(a.shape[0])
    image = a.reshape((1, 1, a.shape[0], a.shape[1]))
    return symc.function(
        [a, b], [T.linalg.solve(spd, b), T.linalg.cholesky(spd), T.nnet.conv2d(image, image)],
        name="linear", mode="python",
    )  # fmt: skip


def _network() -> symc.Function:
    x, k = T.matrix("x"), T.tensor4("k")
    image = x.reshape((1, 1, x.shape[0], x.shape[1]))
    pooled, seen = T.nnet.max_pool2d(image, (2, 1)), T.nnet.conv2d(image, k)
    ids = x.argmax(0)
    parts = [
        pooled, symc.grad(pooled.sum(), x), symc.grad((seen**2).sum(), k), T.nnet.layer_norm(x),
        T.nnet.attention(image[0], image[0], image[0]), T.one_hot(ids, 4), x[:, 0][ids],
        symc.grad((x[ids] ** 2).sum(), x), T.segment_sum(x[0], ids, 4),
    ]  # fmt: skip
    return symc.function([x, k], parts, name="network", mode="python")


def _sparse() -> symc.Function:
    x, v = T.matrix("x"), T.vector("v")
    full = T.sparse.csr_from_dense(x)
    product = full @ v
    other = T.sparse.csr_from_parts(v, [0, 1, 1], T.constant([0, 1, 3]), 2)
    parts = [
        product, symc.grad((product**2).sum(), v), full.T @ x, other @ x,
        symc.grad((other @ x).sum(), v),
    ]  # fmt: skip
    return symc.function([x, v], parts, name="sparse", mode="python")


def _indexes() -> symc.Function:
    x, k = T.matrix("x"), T.lvector("k")
    parts = [
        x[k, k], x[k].inc(2.0), x[x > 0], T.nonzero(x)[1], T.take_along_axis(x, T.argsort(x), -1),
        T.bincount(k), T.repeat(x[0], k), T.roll(x, 1), T.delete(x, 1, axis=0), T.unique(k),
        T.unique(x, return_inverse=True)[1], T.topk(x, 2)[1], T.median(x, axis=1),
        T.searchsorted(T.sort(x[0]), x), T.histogram(x, 5)[0], T.interp(x[0], T.sort(x[1]), x[0]),
        T.isin(x, x[0]), T.digitize(x, [0.0, 1.0]),
    ]  # fmt: skip
    return symc.function([x, k], parts, name="indexes", mode="python")


def _waves() -> symc.Function:
    x = T.matrix("x")
    parts = [
        T.fft.fft(x, n=5), T.fft.irfft(T.fft.rfft(x), n=3), T.fft.hfft(x), T.fft.fftshift(x),
        symc.grad(abs(T.fft.rfft2(x)).sum(), x), T.convolve(x[0], x[1]),
    ]  # fmt: skip
    return symc.function([x], parts, name="waves", mode="python")


def _loops() -> symc.Function:
    x, n = T.matrix("x"), T.lscalar("n")
    states, _ = symc.scan(
        lambda row, state, other: state * row + other[0],
        sequences=[x], outputs_info=[x[0]], non_sequences=[x[1]],
    )  # fmt: skip
    taps, _ = symc.scan(
        lambda one, other: one + 0.5 * other,
        outputs_info=[{"initial": x[0, :2], "taps": [-1, -2]}], n_steps=n,
    )  # fmt: skip
    ended, _ = symc.scan(
        lambda state: (state * 1.5, symc.until(state > 20)), outputs_info=[x[0, 0]], n_steps=30
    )
    rows, _ = symc.scan(lambda i, x: x[i], sequences=[T.arange(2)], non_sequences=[x])
    slopes = symc.grad((states**2).sum(), x)
    return symc.function([x, n], [states, taps, ended, rows, slopes], name="loops", mode="python")


def _random() -> symc.Function:
    stream = T.random.RandomStream(3)
    parts = [
        stream.normal(size=(100,)), stream.uniform(size=(2, 2)), stream.permutation(5),
        stream.integers(0, 5, size=(4,)), stream.gamma(2.0, size=(3,)),
    ]  # fmt: skip
    return symc.function([], parts, name="random", mode="python")


ROWS = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]])
GOOD: tuple[tuple[Callable[[], symc.Function], tuple[Any, ...]], ...] = (
    (_step, (ROWS, [0, 1])),
    (_shapes, (ROWS, 1)),
    (_loop, ([0.5, 1.5, 2.0], 2)),
    (_linear, (ROWS, [1.0, 2.0])),
    (_network, (ROWS, [[[[1.0, -1.0]]]])),
    (_sparse, (ROWS, [1.0, 2.0, 3.0])),
    (_indexes, (ROWS, [0, 1, 1])),
    (_waves, (ROWS,)),
    (_loops, (ROWS, 3)),
    (_random, ()),
)


def good(number: int, folder: Path) -> tuple[bytes, tuple[Any, ...]]:
    """One of some files that are as they should be, and arguments for its function."""
    make, arguments = GOOD[number % len(GOOD)]
    symc.save(make(), folder / "good")
    return (folder / "good").read_bytes(), arguments


# --- damage ---------------------------------------------------------------------------------------


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The file with some damage."""
    kinds = (_bits, _cut, _moved, _arrays, _packed, _members, _wires, _json, _json, _json, _json)
    return chance.choice(kinds)(data, chance)


def _bits(data: bytes, chance: random.Random) -> bytes:
    """Bits or bytes that have changed, half of them in the archive's headers."""
    changed = bytearray(data)
    start = max(0, len(data) - 400) if chance.random() < 0.5 else 0
    for _ in range(chance.choice((1, 1, 2, 8))):
        place = chance.randrange(start, len(data))
        changed[place] = chance.choice((changed[place] ^ (1 << chance.randrange(8)), 0, 255))
    return bytes(changed)


def _cut(data: bytes, chance: random.Random) -> bytes:
    """A file cut off at its end, its begin or within."""
    first, last = sorted(chance.randrange(len(data)) for _ in range(2))
    return chance.choice((data[:first], data[first:], data[:first] + data[last:]))


def _moved(data: bytes, chance: random.Random) -> bytes:
    """Parts that have changed places, or stand there twice."""
    a, b, c = sorted(chance.randrange(len(data)) for _ in range(3))
    return chance.choice((
        data[:a] + data[b:c] + data[a:b] + data[c:], data[:b] + data[a:], data + data[a:],
    ))  # fmt: skip


def _parts(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def _zipped(parts: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", how) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return made.getvalue()


def _arrays(data: bytes, chance: random.Random) -> bytes:
    """Another header of an array: dtype, shape, order, or no header."""
    parts = _parts(data)
    name = chance.choice([name for name in parts if name.endswith(".npy")] or [archive.DOCUMENT])
    shape = tuple(
        chance.choice((0, 1, 2, 3, 12, 2**31, 2**62, -1))
        for _ in range(chance.choice((0, 1, 2, 70)))
    )
    header = {
        "descr": chance.choice(DTYPES),
        "fortran_order": chance.choice((True, False, None, 1)),
        "shape": chance.choice((shape, list(shape), 3, (2.0,), ((),))),
    }  # fmt: skip
    text = chance.choice((
        repr(header), "{" * 300, "(" * 9000, "{'descr': '''", "1L", "{}", "\0", "__import__('os')",
        repr({**header, "more": 1}), "{'descr': '<f8', 'fortran_order': False, 'shape': (3L,)}",
    ))  # fmt: skip
    body = parts[name][-chance.choice((0, 8, 24, 96)) :]
    length = chance.choice((len(text), len(text), 1, 65535))
    magic = b"\x93NUMPY" + bytes(chance.choice(((1, 0), (1, 0), (2, 0), (3, 0), (9, 9))))
    parts[name] = magic + length.to_bytes(2, "little") + text.encode() + body
    return _zipped(parts)


def _packed(data: bytes, chance: random.Random) -> bytes:
    """Parts that are compressed, perhaps to a thousandth, or say that they are."""
    parts = _parts(data)
    if chance.random() < 0.5:
        bomb = b"[" + b" " * chance.choice((10, 3_000_000)) + b"]"
        parts[chance.choice(list(parts))] = bomb
    how = chance.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    made = bytearray(_zipped(parts, how))
    if chance.random() < 0.5:  # damaged within
        made[chance.randrange(len(made) // 2)] ^= 255
    return bytes(made)


def _members(data: bytes, chance: random.Random) -> bytes:
    """Other parts than there should be, or one in the place of another."""
    parts = _parts(data)
    names = list(parts)
    a, b = chance.choice(names), chance.choice(names)
    match chance.randrange(5):
        case 0:
            del parts[a]
        case 1:
            parts[a], parts[b] = parts[b], parts[a]
        case 2:
            parts |= {f"arrays/{number}.npy": parts[names[-1]] for number in range(9, 2000)}
        case 3:
            parts = {"../" + a: b"", "/" + b: b"", **parts}
        case _:
            parts[a] = b"[" * chance.choice((900, 100_000, 2_000_000))
    return _zipped(parts)


def _json(data: bytes, chance: random.Random) -> bytes:
    """Other values in the JSON."""
    parts = _parts(data)
    document = json.loads(parts[archive.DOCUMENT])
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        places = list(_places(document))
        holder, key = chance.choice(places)
        holder[key] = _instead(holder[key], [h[k] for h, k in places], chance)
    parts[archive.DOCUMENT] = json.dumps(document).encode("utf-8", "surrogatepass")
    return _zipped(parts)


def _wires(data: bytes, chance: random.Random) -> bytes:
    """Nodes that read other ones of the same dtype and rank: what cannot be seen in one node."""
    parts = _parts(data)
    document = json.loads(parts[archive.DOCUMENT])
    nodes = document["nodes"]
    for _ in range(chance.choice((1, 1, 2, 4))):
        number = chance.choice([n for n, node in enumerate(nodes) if node.get("args")])
        args = nodes[number]["args"]
        place = chance.randrange(len(args))
        wanted = nodes[args[place]].get("type")
        args[place] = chance.choice([
            n for n in range(number) if nodes[n].get("type", wanted) == wanted
        ])  # fmt: skip
    parts[archive.DOCUMENT] = json.dumps(document).encode("utf-8", "surrogatepass")
    return _zipped(parts)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """All places in JSON, as their container and key."""
    pending = [value]
    while pending:
        holder = pending.pop()
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                pending.append(holder[key])


def _instead(value: Any, others: list[Any], chance: random.Random) -> Any:
    """Something to stand in the place of a value: often of its kind, from elsewhere in the file."""
    alike = [json.dumps(other) for other in others if type(other) is type(value)]
    if chance.random() < 0.4:
        return json.loads(chance.choice(alike))
    match value:
        case bool() | None:
            return chance.choice((*NUMBERS, *TEXTS))
        case int() | float():
            return chance.choice((*NUMBERS, value + 1, value - 1, -value))
        case str():
            return chance.choice(TEXTS)
        case list() if value:
            return _list(value, chance)
        case _:
            deep: Any = value
            for _ in range(chance.choice((1, 3, 150))):
                deep = chance.choice(([deep], {"list": [deep]}))
            return chance.choice((deep, *NUMBERS))


def _list(value: list[Any], chance: random.Random) -> Any:
    a, b = chance.randrange(len(value)), chance.randrange(len(value))
    match chance.randrange(4):
        case 0:
            return value[:a] + value[a + 1 :]
        case 1:
            return [*value, json.loads(json.dumps(value[a]))]
        case 2:
            swapped = list(value)
            swapped[a], swapped[b] = swapped[b], swapped[a]
            return swapped
        case _:
            return value * chance.choice((2, 50))


# --- outcomes -------------------------------------------------------------------------------------


def outcomes(
    files: list[tuple[bytes, tuple[Any, ...]]], *, mode: str = "python"
) -> Iterator[tuple[int, str]]:
    """Loads and calls each, in processes of their own: "refused", "ran", "raised ...", or worse."""
    begun = 0
    while begun < len(files):
        for number, said in _in_a_process(files, begun, mode):
            yield number, said
            begun = number + 1


def _in_a_process(
    files: list[tuple[bytes, tuple[Any, ...]]], first: int, mode: str
) -> Iterator[tuple[int, str]]:
    """A process begun afresh: a child of this one would have its addresses and lack its threads."""
    context = multiprocessing.get_context("spawn")
    hear, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(theirs, files, first, mode), daemon=True)
    process.start()
    theirs.close()
    number = first
    with hear:
        while True:
            try:
                number, said = hear.recv()
            except EOFError:
                break
            if said:
                yield number, said
    process.join()
    if process.exitcode:
        yield number, f"worse: the process ended with status {process.exitcode}"


def _run(
    say: Connection, files: list[tuple[bytes, tuple[Any, ...]]], first: int, mode: str
) -> None:
    """Says a number before each file, and its outcome after it."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in range(first, len(files)):
        resource.setrlimit(resource.RLIMIT_CPU, (_used() + SECONDS, NO_LIMIT))
        say.send((number, ""))
        say.send((number, _said(*files[number], mode)))


def _used() -> int:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int(used.ru_utime + used.ru_stime)


def _said(data: bytes, arguments: tuple[Any, ...], mode: str) -> str:
    try:
        return outcome(data, arguments, mode=mode)
    except BaseException:
        return "worse: " + traceback.format_exc()


def outcome(data: bytes, arguments: tuple[Any, ...], *, mode: str = "python") -> str:
    """The outcome of one file, in this process."""
    with tempfile.NamedTemporaryFile() as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of NumPy's, about inf and nan
        file.write(data)
        file.flush()
        try:
            function = symc.load(file.name, mode=mode, device="cpu")
        except BadFile:
            return "refused"
        try:
            function(*arguments)
        except (SymcError, MemoryError, ZeroDivisionError, ValueError, IndexError) as error:
            return f"raised {type(error).__name__}"
    return "ran"
