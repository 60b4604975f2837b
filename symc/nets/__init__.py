"""Networks that everybody knows, in symc: each a page to be read, and trained by an example.

    lenet         LeCun et al. (1998)              digits
    alexnet       Krizhevsky et al. (2012)         stripes
    vgg           Simonyan and Zisserman (2015)    stripes
    resnet        He et al. (2016)                 digits
    lstm          Graves (2013)                    letters of a text
    transformer   Radford et al. (2019)            letters of a text
    unet          Ronneberger et al. (2015)        discs in noise
    vae           Kingma and Welling (2014)        digits

A network is a function from weights and inputs to an expression. `Weights` makes a weight when it
is first asked for, and gives the same one afterwards, so that a function that learns and one that
predicts share theirs:

    w = symc.nets.Weights(seed=0)
    x = T.ftensor4("x")
    scores = symc.nets.lenet.scores(w, T.specify_shape(x, (None, 1, 8, 8)))

Each has a `step`, a function that learns, and `batches` to learn from.
``python -m symc.nets lenet`` trains one and prints its losses; with ``--export FOLDER`` it writes
the step as a library in C.
"""

from types import ModuleType

from symc.graph.public import publish as _publish
from symc.nets.training import classification, learner, train
from symc.nets.weights import Weights

__all__ = ["Weights", "classification", "learner", "train"]

NETWORKS = ("alexnet", "lenet", "lstm", "resnet", "transformer", "unet", "vae", "vgg")

_publish(globals(), __name__, __all__)


def __getattr__(name: str) -> ModuleType:
    if name in NETWORKS:
        from importlib import import_module

        return import_module(f"symc.nets.{name}")
    known = ", ".join(__dir__())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {known}")


def __dir__() -> list[str]:
    return [*__all__, *NETWORKS]
