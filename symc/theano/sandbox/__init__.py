"""`theano.sandbox`: random streams."""
