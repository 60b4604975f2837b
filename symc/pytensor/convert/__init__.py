"""Converters of PyTensor's Ops, a file for each family; importing them fills the table."""

from symc.pytensor.convert import (
    checks,
    draws,
    elementwise,
    inner_graphs,
    joining,
    linalg,
    products,
    scalars,
    scan,
    shapes,
    sorting,
    subtensors,
)

__all__ = [
    "checks",
    "draws",
    "elementwise",
    "inner_graphs",
    "joining",
    "linalg",
    "products",
    "scalars",
    "scan",
    "shapes",
    "sorting",
    "subtensors",
]
