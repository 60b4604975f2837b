"""`theano.gpuarray`: Theano's own library for cards, which symc does not use.

``device=cuda`` means symc's; programs that ask here whether there is a card are told no.
"""

from symc.theano.gpuarray import dnn

pygpu_activated = False
__all__ = ["dnn", "pygpu_activated"]
