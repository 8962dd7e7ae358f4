"""Trees of rigid bodies: bodies, joints, loops, contacts, model files."""

from vinculum.describe.bodies.body import Body
from vinculum.describe.bodies.denavit import denavit_hartenberg, rotation
from vinculum.describe.bodies.tree import BodyTree

__all__ = ["Body", "BodyTree", "denavit_hartenberg", "rotation"]
