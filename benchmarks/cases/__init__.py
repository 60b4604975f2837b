"""All measurements, in the order of the table."""

from measure import Case

from cases import (
    black_scholes,
    choices,
    deep_network,
    fourier,
    gaussian_process,
    importing,
    in_place,
    layer_norm,
    lenet,
    logistic,
    loop,
    lstm,
    network,
    node_count,
    normal_samples,
    pairwise,
    scalar,
    softmax,
    sorting,
)

CASES: tuple[Case, ...] = (
    importing.CASE,
    logistic.COLD,
    logistic.WARM,
    scalar.CASE,
    black_scholes.CASE,
    softmax.CASE,
    layer_norm.CASE,
    pairwise.CASE,
    network.CASE,
    lenet.CASE,
    loop.CASE,
    *in_place.CASES,
    lstm.CASE,
    node_count.CASE,
    deep_network.CASE,
    choices.CASE,
    gaussian_process.GAUSSIAN_PROCESS,
    normal_samples.FLOAT64,
    normal_samples.FLOAT32,
    fourier.CASE,
    sorting.CASE,
)
