"""Programs in Theano's interface, one in a process: `theano_clients.py` runs them.

    python theano_programs.py PROVIDER PROGRAM

PROVIDER is "symc" or "theano". Prints seconds: to import, to compile with the first step, and of a
step after that. Runs on Python 3.7 as well, where Theano 1.0.5 does.
"""
# ruff: noqa: B905, N806 -- Python 3.7 has no strict=, and programs call it T

import sys
import time

START = time.perf_counter()


def provided(name):
    """The module `theano` of symc or the one that is installed."""
    if name == "symc":
        import symc.theano

        symc.theano.install()
    import theano

    return theano


def softmax_regression(theano, np):
    """Logistic regression with gradient descent: batches of 600 images of 784."""
    T = theano.tensor
    x, y = T.matrix("x"), T.ivector("y")
    w, b = (theano.shared(np.zeros(s, dtype="float32")) for s in ((784, 10), (10,)))
    p = T.nnet.softmax(T.dot(x, w) + b)
    cost = -T.mean(T.log(p)[T.arange(y.shape[0]), y])
    updates = [(v, v - 0.1 * g) for v, g in zip((w, b), T.grad(cost, [w, b]))]
    rng = np.random.RandomState(0)
    data = rng.rand(600, 784).astype("float32"), rng.randint(0, 10, 600).astype("int32")
    return theano.function([x, y], cost, updates=updates), data


def perceptron(theano, np):
    """A hidden layer of 500, with L2 decay: batches of 100."""
    T = theano.tensor
    rng = np.random.RandomState(0)
    x, y = T.matrix("x"), T.ivector("y")
    shapes = (784, 500), (500,), (500, 10), (10,)
    v = [theano.shared((0.01 * rng.randn(*s)).astype("float32")) for s in shapes]
    hidden = T.tanh(T.dot(x, v[0]) + v[1])
    p = T.nnet.softmax(T.dot(hidden, v[2]) + v[3])
    loss = -T.mean(T.log(p)[T.arange(y.shape[0]), y])
    cost = loss + np.float32(1e-4) * ((v[0] ** 2).sum() + (v[2] ** 2).sum())
    updates = [(a, a - np.float32(0.01) * g) for a, g in zip(v, T.grad(cost, v))]
    data = rng.rand(100, 784).astype("float32"), rng.randint(0, 10, 100).astype("int32")
    return theano.function([x, y], cost, updates=updates), data


def lenet(theano, np):
    """Two convolutions with pooling and two layers: batches of 50 images of 28 by 28."""
    import theano.tensor.signal.pool

    T = theano.tensor
    rng = np.random.RandomState(0)
    x, y = T.tensor4("x"), T.ivector("y")
    shapes = (20, 1, 5, 5), (50, 20, 5, 5), (800, 100), (100, 10)
    v = [theano.shared((0.05 * rng.randn(*s)).astype("float32")) for s in shapes]
    h = x
    for w in v[:2]:
        h = T.nnet.conv2d(h, w)
        h = T.tanh(T.signal.pool.pool_2d(h, (2, 2), ignore_border=True))
    h = T.tanh(T.dot(h.flatten(2), v[2]))
    p = T.nnet.softmax(T.dot(h, v[3]))
    cost = -T.mean(T.log(p)[T.arange(y.shape[0]), y])
    updates = [(a, a - np.float32(0.1) * g) for a, g in zip(v, T.grad(cost, v))]
    data = rng.rand(50, 1, 28, 28).astype("float32"), rng.randint(0, 10, 50).astype("int32")
    return theano.function([x, y], cost, updates=updates), data


def recurrent(theano, np):
    """A recurrent network by `scan`: 50 steps, batches of 20, 100 units."""
    T = theano.tensor
    rng = np.random.RandomState(0)
    x, y = T.tensor3("x"), T.matrix("y")
    shapes = (20, 100), (100, 100), (100, 5)
    v = [theano.shared((0.1 * rng.randn(*s)).astype("float32")) for s in shapes]
    start = T.zeros((x.shape[1], 100), dtype="float32")
    states, _ = theano.scan(
        lambda row, h, a, b: T.tanh(T.dot(row, a) + T.dot(h, b)), sequences=x,
        outputs_info=T.unbroadcast(start, 0, 1), non_sequences=v[:2],
    )  # fmt: skip
    cost = ((T.dot(states[-1], v[2]) - y) ** 2).mean()
    updates = [(a, a - np.float32(0.01) * g) for a, g in zip(v, T.grad(cost, v))]
    data = rng.rand(50, 20, 20).astype("float32"), rng.rand(20, 5).astype("float32")
    return theano.function([x, y], cost, updates=updates), data


PROGRAMS = {
    "softmax_regression": softmax_regression,
    "perceptron": perceptron,
    "lenet": lenet,
    "recurrent": recurrent,
}


def main():
    """Runs a program and prints its times."""
    theano = provided(sys.argv[1])
    import numpy as np

    imported = time.perf_counter()
    step, data = PROGRAMS[sys.argv[2]](theano, np)
    step(*data)
    first = time.perf_counter()
    times = []
    while len(times) < 5 or sum(times) < 1.0:
        begin = time.perf_counter()
        step(*data)
        times.append(time.perf_counter() - begin)
    times.sort()
    print(imported - START, first - imported, times[len(times) // 2])


if __name__ == "__main__":
    main()
