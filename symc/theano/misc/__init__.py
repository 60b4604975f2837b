"""`theano.misc`: odds and ends that programs import."""
