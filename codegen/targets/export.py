"""A program for other C programs: a header, the C file that goes with it, and a test.

    NAME.h           for callers: a function of typed arrays, and the state it keeps
    NAME.c           tables of the program's arrays; includes the files below
    NAME_program.c   the program, as it is
    call.h, blas.h   how it is called, the same for all
    test.c           calls it with the arrays in data/ and compares (check.h)

The texts are in `runtime/export/`. The parts that differ from program to program are printed here,
into the places that have names between at signs. `export_cuda.py` has the differences for graphics
cards.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from symc.codegen.blocks import every_step
from symc.codegen.emit.writer import wrapped
from symc.codegen.ir import Buffer, Program, Routine
from symc.codegen.record import record, replace
from symc.codegen.routines import ROUTINES
from symc.codegen.runtime import load
from symc.codegen.targets.c_language import C

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from symc.codegen.dtypes import DType
    from symc.codegen.emit.device_module import DeviceModule

TEMPLATES = load.FOLDER / "export"
TYPES = {
    "bool": "bool", "float16": "uint16_t", "bfloat16": "uint16_t", "float32": "float",
    "float64": "double",
    "complex64": "float", "complex128": "double",
}  # fmt: skip
"""The types of elements that have other names in C. A complex number is two of its type."""
HIDDEN = ("symc_prepare", "symc_run", "symc_counts")
"""The names that every program defines for its caller."""
TABLES = ("symc_imports", "symc_lapack")
"""The tables of functions that some programs must be given before they run."""
CPP_KEYWORDS = (
    "and and_eq bitand bitor catch class compl const_cast delete dynamic_cast explicit export"
    " friend mutable namespace new not not_eq operator or or_eq private protected public"
    " reinterpret_cast static_cast template this throw try typeid typename using virtual wchar_t"
    " xor xor_eq"
)
"""C++ programs include the header."""
WORDS = frozenset({*C.reserved, *CPP_KEYWORDS.split()})
TAKEN = WORDS | {
    "count", "download", "error", "folder", "free", "good", "inputs", "known", "lengths", "memcpy",
    "on_card", "printf", "read_values", "results", "same_bytes", "same_float32", "same_float64",
    "same_shape", "set_threads", "shapes", "state", "status", "stream", "upload", "words",
}  # fmt: skip
"""Names that arrays cannot have: the texts in `runtime/export/` use these, and shared variables
have
functions whose names end so, after the program's name."""
FILES = frozenset({"blas", "call", "card", "check", "data", "kernels", "opencl", "sim", "test"})
"""Names that programs cannot have: files in the folder are."""
ROLES = ("input", "shared", "constant", "output")
Shape = tuple[int, ...]


@record
class Kernels:
    """The kernels of a program on a device: a module, and their names.

    `shared` are the names of kernels of `runtime/`, which follow them. `options` are those of
    OpenCL's compiler, and None for CUDA.
    """

    module: DeviceModule
    names: tuple[str, ...]
    shared: tuple[str, ...]
    options: tuple[str, ...] | None = None


@record
class Exported:
    """A program to be exported, with all that its caller must know about it.

    `updates` has, for each output after the first `results`, the number of the shared variable
    whose new value it is. `errors` are the texts for the statuses 1, 2 ...; `lengths` are the
    lengths of the shared variables and constants, in order. `names` has the user's names of arrays,
    by the program's names; `kernels` are there on a graphics card. If `apart`, no multiplication
    and addition may become one instruction.
    """

    program: Program
    source: str
    note: str
    results: int
    updates: tuple[int, ...]
    errors: tuple[str, ...]
    lengths: tuple[Shape, ...]
    names: Mapping[str, str]
    kernels: Kernels | None = None
    apart: bool = False

    @property
    def name(self) -> str:
        """The name of the function: as in symc, with underscores where C has that name."""
        name = self.program.name
        known = WORDS | C.functions | FILES | load.symbols().keys()
        while name in known:
            name += "_"
        return name

    def buffers(self, *roles: str) -> list[Buffer]:
        """The program's arrays of some roles, in its order, by names that C lets them have."""
        names = self._names()
        found = [b for role in roles for b in self.program.buffers if b.role == role]
        return [replace(buffer, name=names[buffer.name]) for buffer in found]

    @property
    def tables(self) -> list[str]:
        """The tables of functions that the program must be given before it runs."""
        if self.kernels is not None:
            return []
        called = [s.name for s in every_step(self.program.steps) if isinstance(s, Routine)]
        needed = load.needed(ROUTINES[name].source for name in called)
        return [table for table in TABLES if table in needed]

    def _names(self) -> dict[str, str]:
        """A name for each array, which no other name is that is made of an array's."""
        names: dict[str, str] = {}
        used = {*TAKEN, self.name}
        for buffer in self.program.buffers:
            if buffer.role not in ROLES:
                continue
            name = self.names.get(buffer.name, buffer.name)
            while not used.isdisjoint(_made_of(name)):
                name += "_"
            used.update(_made_of(name))
            names[buffer.name] = name
        return names

    @property
    def outputs(self) -> list[Buffer]:
        """The outputs that callers get."""
        return self.buffers("output")[: self.results]


def _made_of(name: str) -> set[str]:
    """An array's name, and the names of variables and files that have it in them."""
    own = {name, f"example_{name}", f"expected_{name}"}
    return own | {f"{each}_shape" for each in own}


def files(exported: Exported, example: Sequence[Shape] | None) -> dict[str, str]:
    """The texts to be written, by file name.

    `example` has the lengths of the inputs, outputs and shared variables of the test, in order.
    """
    name = exported.name
    made = {
        f"{name}.h": template("name.h.in", **header_places(exported)),
        f"{name}.c": template("name.c.in", **glue_places(exported), libraries=_libraries(exported)),
        f"{name}_program.c": exported.source,
        "call.h": template("call.h"),
        "Makefile": _build_file(exported, "Makefile.in"),
        "CMakeLists.txt": _build_file(exported, "CMakeLists.txt.in"),
    }
    if "symc_imports" in exported.tables:
        made["blas.h"] = template("blas.h")
    if example is not None:
        places = test_places(exported, example)
        made |= {"test.c": template("test.c.in", **places), "check.h": template("check.h")}
    return made


def template(file: str, /, **values: str) -> str:
    """A file of `runtime/export/` with its places filled."""
    text = Path(TEMPLATES, file).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def _build_file(exported: Exported, name: str) -> str:
    lapack = "symc_lapack" in exported.tables
    return template(
        name,
        name=exported.name,
        define="-DSYMC_LIBMVEC",
        contraction="-ffp-contract=off" if exported.apart else "-ffp-contract=fast",
        blas="-llapack -lblas" if lapack else "",
        blas_cmake=template("lapack.cmake", name=exported.name) if lapack else "",
    )


# --- the header -----------------------------------------------------------------------------------


def header_places(exported: Exported) -> dict[str, str]:
    """The texts that the header's template needs."""
    where = "" if exported.kernels is None else " on the card"
    accessors: list[str] = []
    for buffer, (head, *_) in zip(exported.buffers("shared"), _accessors(exported), strict=True):
        value = f"The value of {buffer.name}{where}, which calls overwrite or move"
        accessors.append(f"// {value}; its lengths go to\n// shape unless that is NULL.\n{head};\n")
    return {
        "name": exported.name,
        "NAME": exported.name.upper(),
        "note": "\n".join(f"// {line}".rstrip("\\ ") for line in exported.note.split("\n")),
        "prototype": prototype(exported),
        "accessors": "\n".join(accessors),
    }


def kind(dtype: DType) -> str:
    """The C type of an element, as callers see it."""
    return TYPES.get(dtype.name, f"{dtype.name}_t")


def prototype(exported: Exported, suffix: str = "", *first: str) -> str:
    """The function's declaration, with parameters of its own after the state."""
    name = exported.name
    parameters = [f"{name}_state *state", *first]
    for buffer in exported.buffers("input"):
        parameters.append(f"const {kind(buffer.dtype)} *{buffer.name}")
        parameters += [f"const {_lengths_of(buffer)}"] if buffer.shape else []
    for buffer in exported.outputs:
        parameters.append(f"{kind(buffer.dtype)} **{buffer.name}")
        parameters += [_lengths_of(buffer)] if buffer.shape else []
    return wrapped(f"int64_t {name}{suffix}(", parameters, ")", "")


def _lengths_of(buffer: Buffer) -> str:
    return f"int64_t {buffer.name}_shape[{len(buffer.shape)}]"


def _accessors(exported: Exported) -> Iterator[tuple[str, int, int, int]]:
    """For each shared variable the head of a function, its first length, its rank and number."""
    name, first = exported.name, 0
    for number, buffer in enumerate(exported.buffers("shared")):
        own = f"{name}_{buffer.name}"
        head = f"{kind(buffer.dtype)} *{own}({name}_state *state, int64_t *shape)"
        yield head, first, len(buffer.shape), number
        first += len(buffer.shape)


# --- the file after it ----------------------------------------------------------------------------


def glue_places(exported: Exported) -> dict[str, str]:
    """The texts that the template of the function's file needs."""
    name = exported.name
    inputs, outputs = exported.buffers("input"), exported.buffers("output")
    hidden = [*HIDDEN, *exported.tables]
    lengths = [f"{b.name}_shape[{axis}]" for b in inputs for axis in range(len(b.shape))]
    accessors = [
        template("accessor.c.in", head=head, first=str(first), rank=str(rank), number=str(number))
        for head, first, rank, number in _accessors(exported)
    ]
    return {
        "name": name,
        "renamed": "\n".join(f"#define {symbol} {name}_{symbol}" for symbol in hidden),
        "counts": "\n".join(_counts(exported, inputs, outputs)),
        "tables": _tables(exported, outputs),
        "prototype": prototype(exported),
        "inputs": listed("const void *const inputs", [*(b.name for b in inputs), "NULL"], "    "),
        "lengths": listed("const int64_t lengths", [*lengths, "0"], "    "),
        "results": "\n".join(f"    {line}" for line in _unpacked(exported)),
        "errors": ",\n".join(f"        {_quoted(text)}" for text in ("no error", *exported.errors)),
        "accessors": "\n".join(accessors),
    }


def listed(declared: str, items: Sequence[str], indent: str = "") -> str:
    """An array with these elements."""
    return wrapped(f"{declared}[] = {{", items, "};", indent).lstrip()


def _counts(
    exported: Exported, inputs: Sequence[Buffer], outputs: Sequence[Buffer]
) -> Iterator[str]:
    shared, constants = exported.buffers("shared"), exported.buffers("constant")
    counts = {
        "INPUTS": len(inputs), "SHARED": len(shared), "CONSTANTS": len(constants),
        "OUTPUTS": len(outputs), "RESULTS": exported.results, "INPUT_LENGTHS": _ranks(inputs),
        "RUN_LENGTHS": _ranks(shared), "SHARED_LENGTHS": _ranks([*shared, *constants]),
        "SHAPES": _ranks(outputs),
    }  # fmt: skip
    for name, count in counts.items():
        yield f"#define {name} {count}"


def _ranks(buffers: Sequence[Buffer]) -> int:
    return sum(len(buffer.shape) for buffer in buffers)


def _libraries(exported: Exported) -> str:
    """The macro that finds BLAS and LAPACK before the program runs."""
    if "symc_imports" not in exported.tables:
        return "#define FIND_LIBRARIES()"
    lines = ['#define FIND_LIBRARIES find_blas\n#include "blas.h"']
    if "symc_lapack" in exported.tables:
        from symc.codegen.targets.lapack import symbols

        names = [symbol.decode().removeprefix("scipy_") for symbol in symbols(wide=False)]
        uses = " \\\n    ".join(f"use({name})" for name in names)
        lines.insert(0, f"#define LAPACK_TABLE(use) \\\n    {uses}")
    return "\n".join(lines)


def _tables(exported: Exported, outputs: Sequence[Buffer]) -> str:
    held = exported.buffers("shared", "constant")
    lengths = [str(length) for shape in exported.lengths for length in shape]
    return "\n".join(
        [
            listed("static const array held_arrays", [*map(row, held), "{0}"]),
            listed("static const array output_arrays", [*map(row, outputs), "{0}"]),
            listed("static const int64_t held_lengths", [*lengths, "0"]),
            listed("static const int updated", [*map(str, exported.updates), "0"]),
        ]
    )


def row(buffer: Buffer) -> str:
    """A line in a table of arrays."""
    file = f'"{buffer.name}.bin"' if buffer.role in ("shared", "constant") else "0"
    return f"{{{file}, {len(buffer.shape)}, {buffer.dtype.bytes}}}"


def _unpacked(exported: Exported) -> Iterator[str]:
    place = 0
    for number, buffer in enumerate(exported.outputs):
        yield f"*{buffer.name} = results[{number}];"
        rank = len(buffer.shape)
        if rank:
            yield f"memcpy({buffer.name}_shape, shapes + {place}, {rank} * sizeof(int64_t));"
            place += rank


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


# --- the test -------------------------------------------------------------------------------------


def test_places(exported: Exported, example: Sequence[Shape]) -> dict[str, str]:
    """The texts that the test's template needs."""
    name, inputs = exported.name, exported.buffers("input")
    arguments, lines = ["state"], list[str]()
    for buffer, shape in zip(inputs, example, strict=False):
        given = f"example_{buffer.name}"
        lines.append(_read(buffer, given, shape))
        arguments.append(given)
        if buffer.shape:
            lines.append(listed(f"const int64_t {given}_shape", [*map(str, shape)]))
            arguments.append(f"{given}_shape")
    for buffer in exported.outputs:
        lines.append(f"{kind(buffer.dtype)} *{buffer.name};")
        arguments.append(f"&{buffer.name}")
        if buffer.shape:
            lines.append(f"{_lengths_of(buffer)};")
            arguments.append(f"{buffer.name}_shape")
    comparisons: list[str] = []
    checked = [*exported.outputs, *exported.buffers("shared")]
    for buffer, shape in zip(checked, example[len(inputs) :], strict=True):
        comparisons += _compare(exported, buffer, shape)
    comparisons += [f"free(example_{buffer.name});" for buffer in inputs]
    return {
        "name": name,
        "arguments": "\n".join(f"    {line}" for line in lines),
        "call": wrapped(f"{name}(", arguments, ")", "    ").lstrip(),
        "comparisons": "\n".join(f"    {line}" for line in comparisons),
    }


def _count(shape: Shape) -> int:
    total = 1
    for length in shape:
        total *= length
    return total


def _read(buffer: Buffer, name: str, shape: Shape) -> str:
    size = _count(shape) * buffer.dtype.bytes
    return f'{kind(buffer.dtype)} *{name} = read_values(folder, "{name}.bin", {size});'


def _compare(exported: Exported, buffer: Buffer, shape: Shape) -> Iterator[str]:
    """Compares an output, or a shared variable after the call."""
    name, wanted, rank = buffer.name, f"expected_{buffer.name}", len(buffer.shape)
    yield _read(buffer, wanted, shape)
    if buffer.role == "shared":
        yield f"int64_t {name}_shape[{rank} + 1];"
        own = f"{exported.name}_{name}(state, {name}_shape)"
        if exported.kernels is None:
            yield f"const {kind(buffer.dtype)} *{name} = {own};"
        else:
            size = _count(shape) * buffer.dtype.bytes
            yield f"{kind(buffer.dtype)} *{name} = calloc(1, {size} + 1);"
            yield f"good &= !{exported.name}_download(state, {name}, {own}, {size});"
    if rank:
        yield listed(f"const int64_t {wanted}_shape", [*map(str, shape)])
        yield f'good &= same_shape("{name}", {name}_shape, {wanted}_shape, {rank});'
    function, count = f"same_{buffer.dtype.component.name}", _count(shape)
    if function not in ("same_float32", "same_float64"):
        function, count = "same_bytes", count * buffer.dtype.bytes
    elif buffer.dtype.is_complex:
        count *= 2
    yield f'good = good && {function}("{name}", {name}, {wanted}, {count});'
    yield f"free({wanted});"
    if buffer.role == "output" or exported.kernels is not None:
        yield f"free({name});"
