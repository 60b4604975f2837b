"""The graph: nodes and their types, inputs and shared variables, and what can be asked of them."""
