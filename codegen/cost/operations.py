"""How many operations the routines of `routines.py` do: one table, with where the counts are from.

A multiplication is one and so is an addition; one of complex numbers is four times as many on the
average (6 and 2). The counts are the usual ones, by which rates of such routines are stated; where
the work depends on the numbers (iterations, squarings) they stand for the usual case.

LAWN 41  Blackford and Dongarra, "Installation Guide for LAPACK", LAPACK Working Note 41, appendix C
GVL      Golub and Van Loan, "Matrix Computations", 4th edition
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from symc.codegen.cost.amounts import Amount
from symc.codegen.dtypes import BLAS_KINDS
from symc.codegen.ir import Binary, Const, Expr
from symc.codegen.record import record
from symc.codegen.routines import ROUTINES


@record
class RoutineArguments:
    """The arguments of a routine that are no arrays, by the names in `routines.py`, as amounts.

    `names` has the values of the variables in them.
    """

    exprs: Mapping[str, Expr]
    names: Mapping[str, Amount]

    def __getitem__(self, name: str) -> Amount:
        return Amount.of(self.exprs[name], self.names)

    def product(self, text: str) -> Amount:
        """The product of several."""
        total = Amount.of(Const(1))
        for name in text.split():
            total = total * self[name]
        return total

    def log2(self, name: str) -> Amount:
        """The logarithm of a length."""
        return Amount.log2(self.exprs[name])

    @property
    def extremes(self) -> tuple[Amount, Amount]:
        """The smaller and the larger one of m and n."""
        m, n = self.exprs["m"], self.exprs["n"]
        if m == n:
            return self["m"], self["m"]
        if isinstance(m, Const) and isinstance(n, Const):
            small, large = sorted((int(m.value), int(n.value)))
            return Amount.of(Const(small)), Amount.of(Const(large))
        return Amount.of(Binary("min", m, n, m.dtype)), Amount.of(Binary("max", m, n, m.dtype))

    @property
    def is_complex(self) -> bool:
        """Whether the elements of a routine for all kinds are complex."""
        kind = self.exprs.get("kind")
        return isinstance(kind, Const) and BLAS_KINDS[int(kind.value)].startswith("complex")

    def is_true(self, name: str) -> bool:
        """Whether a flag is set."""
        flag = self.exprs[name]
        return isinstance(flag, Const) and bool(flag.value)


def _qr(given: RoutineArguments, *, vectors: bool) -> Amount:
    """LAWN 41, GEQRF and ORGQR: q has m rows and k columns, of `small` reflections."""
    small, large = given.extremes
    square = small * small
    factor = 2 * large * square - 2 / 3 * square * small
    if not vectors:
        return factor
    m, k = given["m"], given["k"]
    return factor + 4 * m * k * small - 2 * (m + k) * square + 4 / 3 * square * small


def _svd(given: RoutineArguments, *, vectors: bool) -> Amount:
    """GVL, figure 8.6.1, the algorithm of Golub and Reinsch."""
    small, large = given.extremes
    square = small * small
    if not vectors:
        return 4 * large * square - 4 / 3 * square * small
    if given.exprs["left"] == given.exprs["m"] and given.exprs["right"] == given.exprs["n"]:
        return 4 * large * large * small + 8 * large * square + 9 * square * small
    return 14 * large * square + 8 * square * small


def _attention(given: RoutineArguments, scores: int, values: int) -> Amount:
    """So many products with lengths of queries, and of values; half of them if it is causal."""
    products = scores * given["d"] + values * given["e"]
    return given.product("batch n m") * products * (1 if given.is_true("causal") else 2)


def _to_queries(given: RoutineArguments) -> Amount:
    return _attention(given, 1 if given.is_true("scores") else 2, 1)


def _fft(given: RoutineArguments, points: float) -> Amount:
    """Of n points and as many sequences as the other axes make."""
    return points * given.product("outer n inner") * given.log2("n")


def _conv(given: RoutineArguments) -> Amount:
    """Each element of a filter meets each output: k0 k1 k2 are its lengths, t0 t1 t2 the counts."""
    return 2 * given.product("images groups channels features k0 k1 k2 t0 t1 t2")


def _sort(given: RoutineArguments) -> Amount:
    """The comparisons of sorting by them (Knuth, volume 3, 5.3.1)."""
    return given.product("rows n") * given.log2("n")


Count = Callable[[RoutineArguments], Amount]

_TYPED: dict[str, Count] = {
    "gemm": lambda of: 2 * of.product("m n k"),
    "batched_gemm": lambda of: 2 * of.product("batch m n k"),
    "gemv": lambda of: 2 * of.product("m n"),
    "ger": lambda of: 2 * of.product("m n"),
    "dot": lambda of: 2 * of["n"],
    "conv_outputs": _conv,
    "conv_inputs": _conv,
    "conv_filters": _conv,
    "attention_outputs": lambda of: _attention(of, 1, 1),
    "attention_queries": _to_queries,
    "attention_keys": lambda of: _attention(of, 2, 2),
    "fft_complex": lambda of: _fft(of, 5),  # as FFTW's benchFFT counts, for all algorithms alike
    "fft_real": lambda of: _fft(of, 2.5),
    "fft_to_real": lambda of: _fft(of, 2.5),
    "sort": _sort,
    "fill_normal": lambda of: of["n"],  # numbers drawn
    "fill_uniform": lambda of: of["n"],
}  # fmt: skip

_FACTORISATIONS: dict[str, Count] = {  # of each matrix of a batch
    "matmul": lambda of: 2 * of.product("m n k"),
    "solve_triangular": lambda of: of.product("n n m"),  # LAWN 41, TRSM
    "cholesky": lambda of: 1 / 3 * of.product("n n n"),  # LAWN 41, POTRF
    "cholesky_pullback": lambda of: 2 / 3 * of.product("n n n"),  # two products for each of those
    "triangle_inverse": lambda of: 1 / 3 * of.product("n n n"),  # LAWN 41, TRTRI
    "triangle_square": lambda of: 1 / 3 * of.product("n n n"),  # LAWN 41, POTRI less TRTRI
    "lu": lambda of: 2 / 3 * of.product("n n n"),  # LAWN 41, GETRF
    "exchanged": lambda of: of.product("n m"),  # numbers moved
    "lu_solve": lambda of: 2 * of.product("n n m"),  # LAWN 41, GETRS
    "lu_inverse": lambda of: 4 / 3 * of.product("n n n"),  # LAWN 41, GETRI
    "eigh": lambda of: 9 * of.product("n n n"),  # GVL, 8.3
    "eigvalsh": lambda of: 4 / 3 * of.product("n n n"),  # GVL, 8.3
    "eig": lambda of: 25 * of.product("n n n"),  # GVL, 7.5
    "eigvals": lambda of: 10 * of.product("n n n"),  # GVL, 7.5
    "schur": lambda of: 25 * of.product("n n n"),  # GVL, 7.5
    "svd": lambda of: _svd(of, vectors=True),
    "svdvals": lambda of: _svd(of, vectors=False),
    "qr": lambda of: _qr(of, vectors=True),
    "qr_r": lambda of: _qr(of, vectors=False),
    # Six products, one factorisation and one solution; Higham 2005, "The scaling and squaring
    # method for the matrix exponential revisited". Each squaring would be one more product.
    "expm": lambda of: (12 + 2 / 3 + 2) * of.product("n n n"),
}

_OTHERS: dict[str, Count] = {
    "argsort": _sort,
    "topmost": lambda of: of.product("rows n"),  # comparisons with the last one chosen
    "row_order": lambda of: of["n"] * of.log2("n"),  # comparisons of rows
    **{
        f"searchsorted_{kind}": lambda of: of["count"] * of.log2("n")
        for kind in ("u64", "i64", "f32", "f64")
    },
    **{
        name: lambda of: of.product("rows n")  # comparisons
        for name in ROUTINES
        if name.startswith(("argmax_", "argmin_"))
    },
    "permutation": lambda of: of["n"],  # numbers drawn
    "flat_nonzero": lambda of: of["n"],  # positions counted
    "sparse_row_numbers": lambda of: of["m"],  # rows counted
    "copy_bytes": lambda of: Amount.of(Const(0)),
}


def operations(name: str, given: RoutineArguments) -> Amount | None:
    """The operations of a routine; None where nobody has counted them."""
    if name in _FACTORISATIONS:
        return _FACTORISATIONS[name](given) * given["batch"] * (4 if given.is_complex else 1)
    row = ROUTINES.get(name)
    if row is not None and row.operations is not None:
        return row.operations(given)
    count = _OTHERS.get(name) or _TYPED.get(name.removesuffix("_f32").removesuffix("_f64"))
    return None if count is None else count(given)
