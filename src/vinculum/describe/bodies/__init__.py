"""Trees of rigid bodies: bodies, joints, loops, contacts, model files."""

from vinculum.describe.bodies.body import Body
from vinculum.describe.bodies.closures import Loop
from vinculum.describe.bodies.contacts import Rolling, Sliding
from vinculum.describe.bodies.denavit import denavit_hartenberg, rotation_rpy
from vinculum.describe.bodies.joints import Helical
from vinculum.describe.bodies.servo_path import servo_path
from vinculum.describe.bodies.tree import BodyTree
from vinculum.describe.bodies.urdf import from_urdf

__all__ = [
    "Body", "BodyTree", "Helical", "Loop", "Rolling", "Sliding", "denavit_hartenberg", "from_urdf", "rotation_rpy",
    "servo_path",
]  # fmt: skip
