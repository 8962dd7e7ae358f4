"""The dynamics of a tree of bodies by recursions traced through the graph.

| file           | what                                              | grows as |
|----------------|---------------------------------------------------|----------|
| `newton_euler` | forces from accelerations                         | n        |
| `composite`    | mass matrix, sparse factorization                 | n²       |
| `articulated`  | accelerations from forces                         | n        |
| `theorem`      | the paper's kinetic energy in closed form         | n³       |
"""

from vinculum.derivation.bodies.recursion import Recursion, recursion

__all__ = ["Recursion", "recursion"]
