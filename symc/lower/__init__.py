"""Lowering: from a schedule to a program in the IR of `symc.codegen`."""
