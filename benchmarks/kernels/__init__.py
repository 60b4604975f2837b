"""Kernels in the style of scientific codes, each written for symc, NumPy, numba and JAX."""

from . import (
    branches,
    cells,
    choices,
    counting,
    elements,
    graphs,
    lines,
    particles,
    places,
    products,
    ragged,
    sides,
    signals,
    slopes,
    solvers,
    stencils,
    tables,
    tallies,
)
from .kernel import Kernel

KERNELS: tuple[Kernel, ...] = (
    *stencils.KERNELS,
    *solvers.KERNELS,
    *lines.KERNELS,
    *cells.KERNELS,
    *tables.KERNELS,
    *particles.KERNELS,
    *counting.KERNELS,
    *tallies.KERNELS,
    *signals.KERNELS,
    *slopes.KERNELS,
    *products.KERNELS,
    *ragged.KERNELS,
    *sides.KERNELS,
    *places.KERNELS,
    *elements.KERNELS,
    *branches.KERNELS,
    *choices.KERNELS,
    *graphs.KERNELS,
)
