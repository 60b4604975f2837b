"""`theano.tests`: helpers for tests of programs."""
