"""Lines for all that is used often; `entries.py` describes their parts."""

from __future__ import annotations

from tests.fuzz.entries import Entry, calls, each, own, theirs
from tests.fuzz.vocabulary_more import MORE

ELEMENTWISE = [
    *calls("exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan arcsin arccos arctan sinh "
         "cosh tanh arcsinh arccosh arctanh square reciprocal deg2rad rad2deg sinc", "f"),
    *calls("exp log sqrt sin cos tan sinh cosh tanh square reciprocal", "c"),
    *calls("abs negative conj real imag", "c", kind="exact"),
    Entry("m.angle({0})", "c"),
    *calls("abs negative floor ceil trunc rint fix sign signbit isnan isinf isfinite isposinf "
         "isneginf nan_to_num positive fabs spacing copy conj real", "f", kind="exact"),
    *calls("abs negative sign square positive bitwise_count invert isnan rint signbit", "i",
         kind="exact"),
    *calls("exp sqrt sin tanh log1p arctan", "i"), Entry("T.reciprocal({0})", "i", numpy="1 / {0}"),
    *calls("logical_not invert", "b", kind="exact"),
    *theirs("sigmoid softplus log_sigmoid relu silu elu", "f"),
    *own("erf erfc erfinv erfcx gamma gammaln digamma trigamma i0 j0 gelu selu ndtr log_ndtr "
          "logit entr", "f"),
    Entry("m.modf({0})[0]", "f", "exact"), Entry("m.modf({0})[1]", "f", "exact"),
    Entry("m.frexp({0})[0]", "f", "exact"), Entry("m.frexp({0})[1]", "f", "exact"),
    # Expressions that look like nothing, which compilers like to simplify.
    *each("{0}+0 0+{0} {0}-0 {0}*1 {0}/1 {0}*-1 {0}*0 {0}*2 2*{0} {0}/2 {0}**1 -{0} -(-{0}) +{0} "
           "{0}-0.0 {0}*0.5 {0}/-1", "f", "exact"),
    *each("0-{0} 0.0-{0} 1-{0} {0}-1 1+{0} {0}-{0} {0}/{0} {0}+{0} {0}**2 {0}**3 {0}**-1 {0}**0 "
           "{0}**0.5 {0}**-0.5 {0}**-2 1/{0} 0/{0} {0}**1.5 2**{0} {0}/3 {0}*3 {0}//1 {0}%1 {0}//2 "
           "{0}%-3 {0}*{0} {0}*{0}*{0} {0}+{0}*2 {0}*2+{0}*3 -({0}-1) 1-(1-{0}) ({0}*2)/2", "f"),
    *each("{0}+0 {0}*1 {0}*-1 {0}*0 {0}-{0} {0}//1 {0}%1 {0}//3 {0}%5 {0}//-2 {0}%-3 {0}**2 "
           "{0}**3 {0}*3 {0}+7 1-{0} ~{0} {0}&6 {0}|1 {0}^5 {0}<<1 {0}>>1 {0}<<{n} {0}>>{n} -{0} "
           "{0}//4 {0}%8 {0}//-1 {0}%-1 ({0}*2)//2 {0}>1 {0}<=0", "i", "exact"),
    *each("{0}/2 {0}/{0} 1/{0} {0}*0.5 {0}+0.25 2.0**{0} {0}**0.5", "i"),
    *each("{0}*2 {0}+1 {0}-(1+2j) {0}*1j {0}/2 {0}**2 1/{0} -{0} {0}*{0} {0}-{0}", "c"),
    *each("~{0} {0}&{0} {0}|True {0}^True {0}+1 {0}*2.5 {0}+{0} {0}*{0}", "b", "exact"),
    *each("{0}>0 {0}<1 {0}>=0 {0}<=-1", "f", "exact"),
    *(Entry(f"{{0}}.astype('{name}')", "x") for name in (
        "float64", "float32", "float16", "bool", "int64", "int32", "int16", "int8", "uint8",
        "uint16", "uint32", "uint64", "complex128", "complex64")),
    *calls("clip", "f", ", -1, 1.5", "exact"), *calls("clip", "i", ", 1, 3", "exact"),
    *calls("nan_to_num", "f", ", nan=1.5, posinf=9, neginf=-9", "exact"),
    *calls("round", "f", ", 2"),
]  # fmt: skip

PAIRS = [
    *each("{0}+{1} {0}-{1} {0}*{1} {0}/{1} {0}**{1} {0}//{1} {0}%{1} {0}*{1}+{0} {0}-{1}*{0} "
           "({0}+{1})-{1} {0}*{1}/{1} ({0}*{1})+({0}*{1})", "f f~"),
    *each("{0}+{1} {0}-{1} {0}*{1} {0}//{1} {0}%{1} {0}&{1} {0}|{1} {0}^{1} {0}<<{1} {0}>>{1} "
           "{0}<{1} {0}>={1} {0}**{1} {0}//({1}|1) {0}%({1}|1)", "i i~", "exact"),
    *each("{0}+{1} {0}-{1} {0}*{1} {0}/{1} {0}**{1}", "n n~"),
    *each("{0}+{1} {0}-{1} {0}*{1} {0}/{1}", "c c~"),
    *each("{0}+{1} {0}*{1} {0}-{1}", "f c~"),
    *each("{0}&{1} {0}|{1} {0}^{1} {0}*{1} {0}+{1}", "b b~", "exact"),
    *each("{0}*{1} {0}+{1}", "b n~"),
    *each("{0}<{1} {0}<={1} {0}>{1} {0}>={1}", "f f~", "exact"),
    *calls("equal not_equal", "x x~", kind="exact"),
    *calls("maximum minimum fmax fmin", "f f~", kind="unsigned"),
    *calls("maximum minimum gcd lcm", "i i~", kind="exact"),
    *calls("copysign nextafter", "f f~", kind="exact"),
    *calls("hypot arctan2 fmod power logaddexp logaddexp2 heaviside float_power remainder "
         "true_divide floor_divide", "f f~"),
    Entry("m.divmod({0}, {1})[0]", "f f~"), Entry("m.divmod({0}, {1})[1]", "i i~", "exact"),
    Entry("m.ldexp({0}, {1} % 9)", "f i~", "exact"),
    *calls("isclose", "f f~", kind="exact"),
    *calls("logical_and logical_or logical_xor", "x x~", kind="exact"),
    *calls("where", "b x= x=", kind="exact"), *calls("where", "b f~ f~", kind="exact"),
    Entry("m.where({0} > 0, {0}, {1})", "f f~", "exact"),
    Entry("m.where({0}, {1}, 0.5)", "b f~", "exact"),
    Entry("m.where({0} > 0, m.sqrt({0}), {1})", "f f~"),
    Entry("m.where(m.equal({0}, 0), 1, {1} / {0})", "f f~"),
    Entry("m.select([{0} > 0, {0} < -1], [{0}, {1}], 2)", "f f=", "exact"),
    Entry("m.clip({0}, {1}, {2})", "f f~ f~", "unsigned"),
    *own("xlogy xlog1py beta betaln gammainc gammaincc kl_div rel_entr", "f f~"),
]  # fmt: skip

FOLDS = [
    *calls("sum prod mean var std nansum nanmean nanprod nanvar nanstd", "f",
         ", axis={axes}, keepdims={keep}", "sums"),
    *calls("max min nanmax nanmin ptp", "f", ", axis={axes}, keepdims={keep}", "unsigned"),
    *calls("max min sum prod any all ptp", "i", ", axis={axes}, keepdims={keep}", "exact"),
    *calls("mean var", "i", ", axis={axes}", "sums"),
    *calls("any all count_nonzero", "x", ", axis={axes}, keepdims={keep}", "exact"),
    *calls("sum mean", "b", ", axis={axes}", "sums"),
    *calls("sum mean prod", "c", ", axis={axes}", "sums"),
    *calls("argmax argmin nanargmax nanargmin", "f1+", ", axis={ax}", "exact"),
    *calls("argmax argmin", "i1+", ", axis={ax}", "exact"),
    *calls("argmax", "b1+", ", axis={ax}", "exact"),
    *calls("median nanmedian average", "f1+", ", axis={ax}", "sums"),
    *theirs("quantile percentile nanquantile", "f1+", ", 0.3, axis={ax}", "sums"),
    *calls("cumsum cumprod nancumsum nancumprod", "f1+", ", axis={ax}", "sums"),
    *calls("cumsum cumprod", "i1+", ", axis={ax}", "exact"),
    *calls("cumsum", "b1+", ", axis={ax}", "exact"),
    *calls("cumsum cumprod", "c1+", ", axis={a}", "sums"),
    *theirs("cummax cummin", "f1+", ", axis={a}", "unsigned"),
    *theirs("cummax cummin", "i1+", ", axis={a}", "exact"),
    *theirs("logsumexp softmax log_softmax", "f1+", ", axis={a}", "sums"),
    *calls("diff", "f1+", ", axis={a}"), *calls("diff", "i1+", ", axis={a}", "exact"),
    *calls("trapezoid", "f1+", ", axis={a}", "sums"),
    *calls("sum", "f", ", axis={axes}, dtype='float64'", "sums"),
    *calls("sum", "i", ", axis={axes}, dtype='int8'", "exact"),
    *calls("linalg.norm", "f1", "", "sums"), *calls("linalg.norm", "f1+", ", axis={a}", "sums"),
    Entry("({0} * {0}).sum(axis={ax})", "f1+", "sums"),
    Entry("({0} - {0}.mean(axis={a}, keepdims=True)) / {0}.std(axis={a}, keepdims=True)", "f1+",
          "sums"),
    Entry("{0}.max(axis={a}) - {0}.min(axis={a})", "f1+", "unsigned"),
]  # fmt: skip

SHAPES = [
    *each("{0}.T {0}.ravel() {0}.reshape((-1,)) {0}.reshape({shape}) {0}[{cut}] {0}[{cut}] "
           "{0}[{idx}] {0}[{idx}] {0}[{idx}]", "x", "exact"),
    *each("{0}[::-1] {0}[1:] {0}[:-1] {0}[::2] {0}[{i}] {0}[{k}] {0}[...,None] {0}[None] "
           "{0}[-1] {0}[...,::-1] {0}[{i}:] {0}[:{i}]", "x1+", "exact"),
    Entry("{0}[..., {kl}]", "x1+", "exact"), Entry("{0}[:, {kl}]", "x2", "exact"),
    Entry("m.transpose({0}, {p})", "x2+", "exact"),
    Entry("m.expand_dims({0}, {a})", "x1+", "exact"),
    *calls("swapaxes moveaxis", "x2+", ", {a}, {a2}", "exact"),
    *calls("flip", "x1+", ", {a}", "exact"), *calls("roll", "x1+", ", {n}", "exact"),
    *calls("roll", "x1+", ", -{n}, {a}", "exact"), *calls("roll", "x1+", ", -2**62 - 7", "exact"),
    *calls("roll", "x1+", ", 1000003, {a}", "exact"),
    *calls("roll", "x2+", ", ({n}, -1), ({a}, {a2})", "exact"),
    *calls("flip fliplr flipud rot90 trace tril triu", "x2", "", "exact"),
    *calls("tril triu diagonal", "x2+", ", 1", "exact"), *calls("tril", "x2", ", -1", "exact"),
    *calls("diag diagflat", "x1", ", -1", "exact"), *calls("diag", "x2", "", "exact"),
    *calls("tile", "x", ", 2", "exact"), *calls("tile", "x1+", ", (2, 1, 2)", "exact"),
    *calls("repeat", "x", ", 2", "exact"), *calls("repeat", "x1+", ", {n}, axis={a}", "exact"),
    Entry("m.concatenate([{0}, {1}], axis={a})", "x1+ x=", "exact"),
    Entry("m.concatenate([{0}, {0}[1:], {1}])", "x1+ x=", "exact"),
    Entry("m.stack([{0}, {1}], axis={a})", "x1+ x=", "exact"),
    *(Entry(f"m.{name}([{{0}}, {{1}}])", "x x=", "exact")
      for name in ("hstack", "vstack", "dstack", "column_stack")),
    *calls("broadcast_to", "x0", ", (2, 3)", "exact"),
    Entry("m.broadcast_to({0}, (2, *{0}.shape))", "x", "exact"),
    *(Entry(f"m.pad({{0}}, {{n}}, mode='{mode}')", "x1+", "exact")
      for mode in ("constant", "edge", "reflect", "symmetric", "wrap")),
    *calls("pad", "n1+", ", (1, 2), constant_values=3", "exact"),
    *calls("atleast_1d atleast_2d atleast_3d squeeze ravel copy zeros_like ones_like", "x", "",
         "exact"),
    Entry("m.array_split({0}, 2, {a})[1]", "x1+", "exact"),
    *calls("delete", "x1+", ", {i}, axis=0", "exact"), *calls("delete", "x1+", ", {k}, 0", "exact"),
    *calls("insert", "n1+", ", {i}, 7, axis=0", "exact"),
    *calls("append", "x x", "", "exact"), *calls("append", "x1+ x=", ", axis={a}", "exact"),
    *calls("resize", "x1+", ", (3, 4)", "exact"),
    *calls("take", "x1+", ", {k}, axis=0", "exact"),
    *calls("take", "x1+", ", {kl}, axis=-1", "exact"),
    *calls("kron outer", "f1 f1"), *calls("outer", "i1 i1", "", "exact"),
    *calls("ediff1d", "f"), Entry("m.gradient({0})", "f1"),
    Entry("m.gradient({0}, axis={a})", "f1+"),
    Entry("T.set_subtensor({0}[{idx}], {1})", "x x0", "exact",
          "R.set_subtensor({0}, np.s_[{idx}], {1})"),
    Entry("T.inc_subtensor({0}[{idx}], {1})", "f f0", "sums",
          "R.inc_subtensor({0}, np.s_[{idx}], {1})"),
    Entry("T.inc_subtensor({0}[{k}], {0}[{i}])", "f1+", "sums",
          "R.inc_subtensor({0}, np.s_[{k}], {0}[{i}])"),
    Entry("T.inc_subtensor({0}[{k}], {0}[{i}])", "i1+", "exact",
          "R.inc_subtensor({0}, np.s_[{k}], {0}[{i}])"),
    Entry("T.set_subtensor({0}[1:], {0}[:-1])", "x1+", "exact",
          "R.set_subtensor({0}, np.s_[1:], {0}[:-1])"),
    Entry("T.set_subtensor({0}[::2], {0}[0])", "x1+", "exact",
          "R.set_subtensor({0}, np.s_[::2], {0}[0])"),
    Entry("T.set_subtensor({0}[{1}], {2})", "x b= x0", "exact", "R.set_subtensor({0}, {1}, {2})"),
    Entry("T.inc_subtensor({0}[{1}], {2})", "f b= f0", "rounds",
          "R.inc_subtensor({0}, {1}, {2})"),
    Entry("T.fill_diagonal({0}, 3)", "n2", "exact", "R.fill_diagonal({0}, 3)"),
]  # fmt: skip

CHOICES = [
    *each("{0}[{1}] {0}[~{1}]", "x b=", "exact"),
    Entry("{0}[{0} > 0]", "f", "exact"), Entry("m.nonzero({0})[0]", "x1+", "exact"),
    *calls("flatnonzero argwhere", "x1+", "", "exact"),
    # Which of equal zeros stands where, sorting does not say; one that is stable does.
    *calls("sort", "n1+", ", axis={ax}", "unsigned"), *calls("sort", "b1+", "", "exact"),
    Entry("T.argsort({0}, axis={ax})", "n1+", "exact",
          "np.argsort({0}, axis={ax}, kind='stable')"),
    *calls("unique", "n", "", "unsigned"), *calls("unique", "b", "", "exact"),
    Entry("{0}[{1} % {0}.shape[0]]", "x1+ i", "exact"),
    Entry("m.take({0}, {1} % 97, mode='wrap')", "x1+ i", "exact"),
    Entry("m.take({0}, {1} % 97, axis=0, mode='clip')", "x1+ i", "exact"),
    Entry("T.take_along_axis({0}, T.argsort({0}, axis={a}), axis={a})", "n1+",
          "unsigned", "np.sort({0}, axis={a})"),
    Entry("m.searchsorted(m.sort({0}), {1})", "n1 n", "exact"),
    Entry("m.searchsorted(m.sort({0}), {1}, side='right')", "f1 f", "exact"),
    Entry("m.digitize({0}, [-1.0, 0.0, 0.5])", "f", "exact"),
    Entry("m.bincount({0} % 5)", "i1", "exact"),
    Entry("m.bincount({0} % 5, minlength=7)", "i1", "exact"),
    Entry("m.histogram({0}, 4, (-2.0, 2.0))[0]", "f", "exact"),
    Entry("m.isin({0}, [0, 1, 2])", "n", "exact"),
    *calls("intersect1d union1d setdiff1d setxor1d", "n n", "", "unsigned"),
    Entry("m.compress({1}, {0}, axis=0)", "x1 b=", "exact"), *calls("extract", "b x=", "", "exact"),
    Entry("m.choose({0} % 2, [{1}, {1}])", "i i=", "exact"),
    Entry("m.interp({0}, [-1.0, 0.0, 0.5, 2.0], [2.0, -1.0, 0.5, 4.0])", "f"),
    Entry("m.lexsort(({0}, {1}))", "f1 f=", "exact"),
    Entry("m.unwrap({0})", "f1+", "sums"),
]  # fmt: skip

PRODUCTS = [
    Entry("m.dot({0}, {1})", "f1 f=", "sums"), Entry("{0} @ {1}", "f1 f=", "sums"),
    Entry("{0} @ {0}.T", "f2", "sums"), Entry("{0}.T @ {1}", "f2 f=", "sums"),
    Entry("m.matmul({0}, m.swapaxes({1}, -1, -2))", "f2+ f=", "sums"),
    Entry("m.matmul({0}, m.swapaxes({1}, -1, -2))", "i2+ i=", "exact"),
    Entry("{0} @ m.conj({1}.T)", "c2 c=", "sums"),
    Entry("{0} @ {0}.T", "i2", "exact"), Entry("{0} @ {0}.T", "b2", "exact"),
    Entry("m.einsum('ij,ij->j', {0}, {1})", "f2 f=", "sums"),
    Entry("m.einsum('ij,kj->ik', {0}, {1})", "f2 f=", "sums"),
    Entry("m.einsum('i,j->ji', {0}, {1})", "f1 f1", "unsigned"),
    Entry("m.einsum('ii->i', {0})", "x2q", "exact"),
    Entry("m.einsum('ijk,ilk->jl', {0}, {1})", "f3 f=", "sums"),
    Entry("m.tensordot({0}, {1}, axes=[[0], [0]])", "f1+ f=", "sums"),
    *calls("inner", "f1+ f=", "", "sums"), *calls("vdot", "f f=", "", "sums"),
    *calls("convolve correlate", "f1 f1", ", 'full'", "sums"),
    *calls("convolve", "i1 i1", ", 'same'", "exact"),
    Entry("m.polyval({0}, {1})", "f1 f", "sums"), Entry("m.vander({0}, 3)", "f1", "sums"),
    *calls("cov corrcoef", "f2", "", "sums"),
    # Three elements: of two, the rank of the result follows from a length, which must be known.
    Entry("m.cross(m.stack([{0}, {1}, -{0}], -1), m.stack([{1}, {0}, {0}], -1))", "f f=", "sums"),
    Entry("m.cross(m.resize({0}, (3, 4)), m.resize({1}, (3, 1)), axis=0)", "n n", "sums"),
    Entry("m.cross(m.resize({0}, (2, 4, 3)), m.resize({1}, (3,)))", "i i", "exact"),
    Entry("m.linalg.det({0})", "f2q", "sums"), Entry("m.linalg.inv({0})", "f2q", "sums"),
    Entry("m.linalg.solve({0}, {0} + 1)", "f2q", "sums"),
    Entry("m.linalg.matrix_power({0}, 3)", "f2q", "sums"),
    Entry("m.linalg.slogdet({0})[1]", "f2q", "sums"),
    Entry("m.linalg.svd({0}, compute_uv=False)", "f2", "sums"),
    Entry("m.linalg.eigvalsh({0} + {0}.T)", "f2q", "sums"),
    Entry("m.linalg.pinv({0})", "f2", "sums"),
    *calls("fft.fft fft.ifft fft.rfft", "f1+", ", axis={a}", "sums"),
    *calls("fft.fft fft.ifft fft.irfft", "c1+", ", axis={a}", "sums"),
    *calls("fft.fftshift", "x1+", "", "exact"), *calls("fft.fft2", "f2+", "", "sums"),
]  # fmt: skip

FAMILIES = {
    "elementwise": (ELEMENTWISE, 4), "pairs": (PAIRS, 4), "folds": (FOLDS, 2.5),
    "shapes": (SHAPES, 4), "choices": (CHOICES, 1.2), "products": (PRODUCTS, 1), **MORE,
}  # fmt: skip
"""Entries, and how often one of them is drawn."""
