"""`theano.sandbox`: random streams, and the former places of other modules."""
