"""The terms of Lagrange's equations, and the states at which ranks and pivots are chosen."""
