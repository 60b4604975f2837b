"""`theano.scalar.basic_scipy`: the special functions among the scalar ops, and their classes."""

from typing import Any

from symc.theano.scalar import basic

_NAMES = (
    "Chi2SF", "Erf", "Erfc", "Erfcinv", "Erfcx", "Erfinv", "Gamma", "GammaInc", "GammaIncC",
    "GammaL", "GammaLn", "GammaU", "I0", "I1", "Iv", "J0", "J1", "Jv", "Psi", "TriGamma",
    "chi2sf", "erf", "erfc", "erfcinv", "erfcx", "erfinv", "gamma", "gammainc", "gammaincc",
    "gammal", "gammaln", "gammau", "i0", "i1", "iv", "j0", "j1", "jv", "psi", "tri_gamma",
    "BinaryScalarOp", "UnaryScalarOp", "complex_types", "discrete_types", "float_types",
    "upgrade_to_float", "upgrade_to_float64", "upgrade_to_float_no_complex",
)  # fmt: skip
_FOUND: dict[str, Any] = {name: getattr(basic, name) for name in _NAMES}
globals().update(_FOUND)
