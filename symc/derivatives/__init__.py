"""Derivatives of graphs: gradients, Jacobians, Hessians, and the batching that they need."""
