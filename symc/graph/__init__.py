"""The graph: nodes and their types, inputs and shared variables, and queries about them."""
