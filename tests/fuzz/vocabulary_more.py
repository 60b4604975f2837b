"""More lines of the vocabulary: functions used less often, or in one field."""

from __future__ import annotations

from tests.fuzz.entries import Entry, calls, own

BUILT = [
    Entry("m.arange({0}.shape[0])", "x1+", "exact"), Entry("m.arange(5) + {0}", "n0"),
    Entry("m.full_like({0}, 2)", "x", "exact"), Entry("m.zeros({0}.shape)", "x", "exact"),
    Entry("m.ones({0}.shape, dtype='int8') * {0}", "n"),
    Entry("m.eye({0}.shape[0])", "x1+", "exact"), Entry("m.identity({0}.shape[0])", "x1+", "exact"),
    Entry("m.tri({0}.shape[0], {0}.shape[-1], -1) * {0}", "f2", "exact"),
    Entry("m.linspace(0, 1, 5) * {0}", "f0"), Entry("m.linspace({0}, 3, 4)", "f0", "sums"),
    Entry("m.meshgrid({0}, {1})[0]", "x1 x1", "exact"),
    Entry("m.meshgrid({0}, {1}, indexing='ij')[1]", "x1 x1", "exact"),
    Entry("m.indices((2, 3))[1]", "x0", "exact"),
    Entry("m.broadcast_arrays({0}, {1})[0]", "x x=", "exact"),
    Entry("m.bartlett(5) * {0}", "f0"), Entry("m.hamming(6) + {0}", "f0"),
    Entry("m.kaiser(4, 5.0) * {0}", "f0", "sums"), Entry("m.blackman(5) + {0}", "f0"),
    Entry("m.block([[{0}, {1}], [{1}, {0}]])", "x2 x=", "exact"),
    # A length that is not known is int64, where NumPy's takes the dtype of the other operand.
    Entry("{0}.size + {0}.astype('int64')", "i", "exact"),
    Entry("m.diagonal({0}, 0, 0, -1)", "x2+", "exact"),
]  # fmt: skip

PARTS = [
    Entry("m.hsplit({0}, [1, 2])[1]", "x1+", "exact"),
    Entry("m.vsplit({0}, [1])[1]", "x2+", "exact"),
    *calls("matrix_transpose", "x2+", kind="exact"),
    *calls("cumulative_sum", "f1", ", include_initial=True", "sums"),
    *calls("cumulative_prod", "i1", ", include_initial=True", "exact"),
    Entry("m.ravel_multi_index(({0} % 3, {0} % 2), (3, 2))", "i", "exact"),
    Entry("m.unravel_index({0} % 6, (2, 3))[1]", "i", "exact"),
    Entry("{0}[m.tril_indices_from({0})]", "x2q", "exact"),
    Entry("{0}[m.triu_indices_from({0}, 1)]", "x2q", "exact"),
    Entry("{0}[m.diag_indices_from({0})]", "x2q", "exact"),
    Entry("{0}[m.ix_({k}, {kl})]", "x2", "exact"),
    Entry("m.piecewise({0}, [{0} < 0, {0} > 1], [-1.0, 3.0, 0.5])", "f", "exact"),
    Entry("T.put_along_axis({0}, m.argsort({0}, axis={a}), {1}, axis={a})", "f1+ f0", "exact",
          "R.put_along_axis({0}, np.argsort({0}, axis={a}, kind='stable'), {1}, axis={a})"),
    Entry("m.partition({0}, 1)[1]", "n1", "unsigned"),
    Entry("m.histogram({0} % 7, 3)[1]", "i1", "sums"),
    Entry("m.unique_counts({0} % 3).counts", "i", "exact"),
    Entry("m.unique_inverse({0} % 3).inverse_indices", "i", "exact"),
    Entry("m.array_equal({0}, {1})", "x x=", "exact"), *calls("allclose", "f f=", kind="exact"),
    *calls("iscomplex isreal", "x", kind="exact"), Entry("m.nanpercentile({0}, 40)", "f1+", "sums"),
    Entry("T.topk({0}, 1)[0]", "n1", "unsigned", "np.sort({0})[-1:]"),
    Entry("T.one_hot({0} % 3, 3)", "i1", "exact", "np.eye(3)[{0} % 3]"),
    Entry("T.max_and_argmax({0}, axis={a})[1]", "f1+", "exact", "np.argmax({0}, axis={a})"),
    Entry("T.vectorize(lambda r: r - r.max(), signature='(n)->(n)')({0})", "n1+", "unsigned",
          "{0} - {0}.max(-1, keepdims=True)"),
    Entry("symc.vmap(lambda r: r * 2)({0})", "n1+", "exact", "{0} * 2"),
    Entry("T.apply_along_axis(lambda r: r.sum(), {a}, {0})", "f1+", "sums",
          "np.sum({0}, axis={a})"),
    Entry("symc.scan(lambda r, s: s + r, {0}, [{0}[0]])[0]", "i1+", "exact",
          "np.cumsum({0}, axis=0, dtype={0}.dtype) + {0}[0]"),
    Entry("symc.ifelse({1}, {0}, {0} * 2)", "n b0", "exact", "{0} if {1} else {0} * 2"),
]  # fmt: skip

POLYNOMIALS = [
    *calls("polyadd polysub polymul", "f1 f1", kind="sums"),
    *calls("polyder polyint", "f1", kind="sums"),
    Entry("m.polyfit({0}, {1}, 1)", "f1 f=", "sums"),
]

MATRICES = [
    *calls("linalg.vector_norm linalg.matrix_norm", "f2", kind="sums"),
    *calls("linalg.cond", "f2q", kind="sums"), *calls("linalg.svdvals", "f2", kind="sums"),
    Entry("m.linalg.multi_dot([{0}, {1}, {0}])", "f2q f=", "sums"),
    Entry("m.linalg.cholesky({0} @ {0}.T + 3 * m.eye({0}.shape[0]))", "f2q", "sums"),
    Entry("m.linalg.eigh({0} + {0}.T)[0]", "f2q", "sums"),
    Entry("m.linalg.qr({0})[0] @ m.linalg.qr({0})[1]", "f2q", "sums"),
    Entry("m.linalg.lstsq({0}, {1})[0]", "f2 f=", "sums"),
    Entry("T.linalg.solve_triangular(T.tril({0}) + 3 * T.eye({0}.shape[0]), {0}, lower=True)",
          "f2q", "sums", "np.linalg.solve(np.tril({0}) + 3 * np.eye({0}.shape[0]), {0})"),
    Entry("T.linalg.expm({0} * 0.1)", "f2q", "sums", None),
    Entry("T.batched_dot({0}, m.swapaxes({1}, -1, -2))", "f3 f=", "sums",
          "{0} @ np.swapaxes({1}, -1, -2)"),
    *calls("vecdot", "f1+ f=", kind="sums"),
    *calls("fft.fft2 fft.ifft2 fft.rfft2 fft.fftn fft.rfftn", "f2", kind="sums"),
    *calls("fft.ifftshift", "x1+", kind="exact"), *calls("fft.hfft", "c1", kind="sums"),
    *calls("fft.ihfft", "f1", kind="sums"),
]  # fmt: skip

NETWORKS = [
    *own("nnet.celu nnet.hard_sigmoid nnet.hard_silu nnet.hard_tanh nnet.leaky_relu nnet.mish "
         "nnet.relu6 nnet.soft_sign nnet.squareplus nnet.sparse_plus nnet.sparse_sigmoid", "f"),
    *own("nnet.squared_error nnet.huber_loss nnet.hinge_loss", "f f="),
    Entry("T.nnet.standardize({0}, axis={a})", "f1+", "sums", None),
    Entry("T.nnet.logmeanexp({0}, axis={a})", "f1+", "sums", None),
    Entry("T.nnet.glu(T.concatenate([{0}, {0}], axis=-1))", "f1+", "sums", None),
    Entry("T.nnet.conv1d({0}, {0}[:1])", "f3", "sums", None),
    Entry("T.nnet.conv1d({0}, {0}[:2, :, :1], padding=1)", "f3", "sums", None),
    Entry("T.nnet.conv2d({0}[None], {0}[None, :, :1, :1])", "f3", "sums", None),
    Entry("T.nnet.conv2d({0}[None, None], {0}[None, None, :2, :2], padding='same')", "f2", "sums",
          None),
    Entry("T.nnet.max_pool1d({0}, 2)", "f3", "unsigned", None),
    *(Entry(f"T.nnet.{name}_pool1d({{0}}, 2)", "f3", "sums", None) for name in ("avg", "sum")),
    Entry("T.nnet.max_pool2d({0}[None], 2, padding=1)", "f3", "unsigned", None),
    Entry("T.nnet.attention({0}, {0}, {1})", "f3 f=", "sums", None),
    Entry("T.nnet.embedding(T.arange(12.0).reshape((3, 4)), {0} % 3)", "i1", "exact", None),
    Entry("T.nnet.categorical_crossentropy(T.softmax({0}), {1})", "f2 f=", "sums", None),
    Entry("T.nnet.binary_crossentropy(T.sigmoid({0}), {1})", "f f=", "sums", None),
]  # fmt: skip

MORE = {
    "built": (BUILT, 0.8), "parts": (PARTS, 1.0), "polynomials": (POLYNOMIALS, 0.3),
    "matrices": (MATRICES, 0.5), "networks": (NETWORKS, 0.8),
}  # fmt: skip
"""Entries, and how often one of them is drawn."""
