"""`T.random`: random numbers, from explicit keys or from a stream with a state.

    key = T.random.key(seed)             samplers are pure functions of their key
    x = T.random.normal(key, size=3)
    a, b = T.random.split(key)           other keys for other numbers
    key_at_step = T.random.fold_in(key, step)

    stream = T.random.RandomStream(seed) each call of a function draws new numbers
    x = stream.normal(size=3)

The bits are those of Philox 4x32-10, the same from C, from CUDA and from the interpreter, and on
any number of threads.
"""

import typing as _typing

from symc.graph.public import publish as _publish
from symc.tensor.random.choices import *
from symc.tensor.random.continuous import *
from symc.tensor.random.derived import *
from symc.tensor.random.discrete import *
from symc.tensor.random.gammas import *
from symc.tensor.random.keys import *
from symc.tensor.random.multivariate import *
from symc.tensor.random.orders import *
from symc.tensor.random.stream import *
from symc.tensor.random.truncated import *

__all__ = [
    "RandomStream", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare",
    "choice", "dirichlet", "exponential", "f", "fold_in", "gamma", "geometric", "gumbel",
    "integers", "key", "laplace", "logistic", "lognormal", "maxwell", "multinomial",
    "multivariate_normal", "negative_binomial", "noncentral_chisquare", "normal", "pareto",
    "permutation", "poisson", "power", "rademacher", "rayleigh", "shuffle", "split",
    "standard_exponential", "standard_gamma", "standard_normal", "student_t", "triangular",
    "truncated_normal", "uniform", "wald", "weibull",
]  # fmt: skip

_publish(globals(), __name__, __all__)


def _late(name: str) -> object:
    from symc.graph.other_libraries import missing

    raise missing("random", __name__, name, __dir__)


if not _typing.TYPE_CHECKING:  # with it, checkers would take any name for one of these
    __getattr__ = _late


def __dir__() -> list[str]:
    return [*__all__]
