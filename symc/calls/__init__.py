"""Functions and their calls: arguments in, results out, shared variables updated."""
