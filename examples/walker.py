"""A humanoid-like tree: a free trunk with a head, two arms and two legs, tumbling through the air.

Fourteen bodies with ball joints at hips and shoulders. Without contact, whatever the joints do, the center of mass
is in free fall and the angular momentum about it is constant. The example checks both, and the energy.
"""

import numpy as np

import vinculum as vn

SEGMENTS = {  # name: (parent, joint, place on the parent, mass, length downwards)
    "trunk": (None, "free", (0, 0, 1.2), 30.0, 0.5),
    "head": ("trunk", "universal", (0, 0, 0.1), 5.0, -0.2),
    "left upper arm": ("trunk", "spherical", (0, 0.2, 0), 2.0, 0.3),
    "left forearm": ("left upper arm", "revolute", (0, 0, -0.3), 1.5, 0.25),
    "left hand": ("left forearm", "revolute", (0, 0, -0.25), 0.5, 0.1),
    "right upper arm": ("trunk", "spherical", (0, -0.2, 0), 2.0, 0.3),
    "right forearm": ("right upper arm", "revolute", (0, 0, -0.3), 1.5, 0.25),
    "right hand": ("right forearm", "revolute", (0, 0, -0.25), 0.5, 0.1),
    "left thigh": ("trunk", "spherical", (0, 0.1, -0.5), 8.0, 0.4),
    "left shank": ("left thigh", "revolute", (0, 0, -0.4), 4.0, 0.4),
    "left foot": ("left shank", "revolute", (0, 0, -0.4), 1.0, 0.1),
    "right thigh": ("trunk", "spherical", (0, -0.1, -0.5), 8.0, 0.4),
    "right shank": ("right thigh", "revolute", (0, 0, -0.4), 4.0, 0.4),
    "right foot": ("right shank", "revolute", (0, 0, -0.4), 1.0, 0.1),
}


def tree():
    bodies = []
    for name, (parent, joint, place, mass, length) in SEGMENTS.items():
        axis = ((0, 1, 0), (0, 0, 1)) if joint == "universal" else (0, 1, 0)
        across = mass * (length**2 / 12 + 0.06**2 / 4)
        shape = dict(mass=mass, center_of_mass=(0, 0, -length / 2), inertia=(across, across, mass * 0.06**2 / 2))
        bodies.append(vn.Body(name.replace(" ", "_"), parent and parent.replace(" ", "_"), joint=joint, axis=axis,
                              origin=place, **shape))  # fmt: skip
    return vn.BodyTree(bodies, name="walker")


def system():
    return tree().system()


def start(model):
    """Arms and legs bent, the trunk thrown upwards and spinning."""
    state = {}
    for body in model.bodies.bodies:
        q = body.coordinates
        if body.joint == "spherical":
            state |= {q[0]: np.cos(0.2), q[2]: np.sin(0.2), q[1].diff(): 0.3}
        elif body.joint == "free":
            state |= {q[3]: 1.0, q[2].diff(): 3.0, q[5].diff(): 1.0, q[4].diff(): 0.5}
        else:
            state |= {q[0]: 0.5, q[0].diff(): 1.0}
    return {key: float(value) for key, value in state.items()}


def momenta(model, motion, i):
    """Position of the center of mass and angular momentum about it at sample i."""
    arm = vn.bodies.dynamics(model.bodies)
    q, v = (np.array([motion[x][i] for x in keys]) for keys in (model.coordinates, model.velocities))
    parts = []
    for body in model.bodies.bodies:
        place, speed = (
            arm.position(body.name, q, body.center_of_mass),
            arm.velocity(body.name, q, v, body.center_of_mass),
        )
        R, J = arm.rotation(body.name, q), np.array(body.inertia_matrix, dtype=float)
        spin = np.array(model.bodies.motions[body.name].omega)
        parts.append((body.mass, place, speed, R @ J @ vn.graph.evaluate(list(spin), _values(model, q, v))))
    m = sum(p[0] for p in parts)
    center = sum(p[0] * p[1] for p in parts) / m
    return center, sum(p[0] * np.cross(p[1] - center, p[2]) + p[3] for p in parts)


def _values(model, q, v):
    keys = (*model.coordinates, *model.velocities)
    return {vn.graph.symbol(key): float(x) for key, x in zip(keys, [*q, *v], strict=True)}


def run():
    """The motion, and {quantity: (found, exact)}."""
    model = system()
    motion = vn.simulate(vn.derive(model), initial=start(model), times=(0, 0.5))
    (c0, L0), (c1, L1) = (momenta(model, motion, i) for i in (0, -1))
    rate = momenta(model, motion, 1)[0]
    v0 = (rate - c0) / motion.t[1] + np.array([0, 0, 9.81]) * motion.t[1] / 2
    fallen = c0 + v0 * 0.5 - np.array([0, 0, 9.81]) * 0.5**2 / 2
    return motion, {
        "energy error": (motion.energy_error, 0.0),
        "change of angular momentum, relative": (float(np.abs(L1 - L0).max() / np.abs(L0).max()), 0.0),
        "height of the center of mass [m]": (float(c1[2]), float(fallen[2])),
    }


def picture(path):
    vn.bodies.draw_tree(tree(), path, overwrite=True)


if __name__ == "__main__":
    from _show import show

    show(run)
