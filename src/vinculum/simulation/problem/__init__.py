"""The initial value problem: expressions, inputs, events, discontinuities, a consistent start."""
