"""Joints: what connects a body to its parent.

Users choose a `Joint`. It consists of elementary joints (`Elementary`), which define its motion and implement the
operations that the recursive dynamics need. To add a joint, write a file such as `helical` with the elementary joint
and the `Joint` that uses it, and import it here; equations, compiled code, checks, model files and drawings then
support it.

| joint       | coordinates                                              | elementary                   |
|-------------|----------------------------------------------------------|------------------------------|
| revolute    | angle                                                    | rotary                      |
| prismatic   | displacement                                             | linear                      |
| helical     | angle                                                    | screw                       |
| cylindrical | displacement, angle                                      | linear, rotary              |
| universal   | angle, angle (about the first, then the second axis)     | rotary, rotary              |
| planar      | two displacements in the plane normal to the axis, angle | linear, linear, rotary      |
| spherical   | unit quaternion qw, qx, qy, qz                               | ball                        |
| free        | three displacements, unit quaternion                     | linear, linear, linear, ball |
| fixed       | none                                                     | none                        |
"""

from vinculum.describe.bodies.joints.ball import BallCenter
from vinculum.describe.bodies.joints.elementary import Elementary
from vinculum.describe.bodies.joints.helical import Helical, ScrewAxis
from vinculum.describe.bodies.joints.joint import JOINTS, Joint, Part, across, joint_of
from vinculum.describe.bodies.joints.linear import LinearAxis
from vinculum.describe.bodies.joints.rotary import RotaryAxis

__all__ = [
    "JOINTS", "BallCenter", "Elementary", "Helical", "Joint", "LinearAxis", "Part", "RotaryAxis", "ScrewAxis",
    "across", "joint_of",
]  # fmt: skip
