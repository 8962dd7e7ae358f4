"""Robots from URDF files."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from vinculum.describe.bodies.body import Body
from vinculum.describe.bodies.denavit import rotation_rpy
from vinculum.describe.bodies.joints import JOINTS as KINDS
from vinculum.describe.bodies.tree import BodyTree
from vinculum.describe.constraints import Holonomic
from vinculum.describe.system import System
from vinculum.errors import Finding, ModelError, call
from vinculum.names import function_of_time, suggestion

JOINTS = {
    "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic",
    "fixed": "fixed", "floating": "free", "planar": "planar",
}  # fmt: skip


_XACRO = "It is a xacro file, from which a URDF is generated. Run xacro robot.urdf.xacro > robot.urdf first."


def from_urdf(
    source: str | Path,
    loops: Sequence[Any] = (),
    contacts: Sequence[Any] = (),
    *,
    floating: bool = False,
    actuated: bool | Sequence[str] = False,
    identified: bool = False,
    gravity: Sequence[Any] = (0, 0, -9.81),
) -> System:
    """The `System` of a URDF file (or of its text), with optional loops and contacts; its tree is ``system.bodies``.

    Links become bodies and joints become coordinates of the same name. Mimic joints become constraints. The root link
    is fixed to the ground, or moves freely with ``floating=True``. With ``actuated=True`` every joint that moves and
    does not mimic another gets an input ``tau_<joint>``, with ``actuated=["shoulder", "elbow"]`` these joints
    alone: in a closed loop some joints have no motor. ``identified=True`` accepts inertias that no rigid body has,
    which are common in published files. Geometry, limits and transmissions are not read.
    """
    robot = _parse(source)
    reader = _Reader(robot, floating, actuated, identified)
    bodies = reader.bodies()
    mimics = reader.mimics(bodies) if bodies else []
    if reader.findings:
        raise ModelError(f"the robot {robot.get('name', '')!r} cannot be read", reader.findings)
    if not any(body.coordinates for body in bodies):
        advice = ("To let the root link move, use ", call("from_urdf", floating=True), ".")
        found = Finding("all its joints are fixed.", advice)
        raise ModelError(f"the robot {robot.get('name', '')!r} cannot move", [found])
    tree = BodyTree(
        bodies, gravity=gravity, loops=loops, contacts=contacts, name=robot.get("name") or "robot"
    )  # fmt: skip
    return tree.system(constraints=mimics)


def _parse(source: str | Path) -> ET.Element:
    """The <robot> element. A document type or entity is refused: robots do not need them, but attacks do."""
    text = str(source).lstrip("\ufeff")
    if not text.lstrip().startswith("<"):
        try:
            text = decoded(Path(source).read_bytes())
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise ModelError("the URDF file cannot be read", [_not_found(Path(source))]) from error
            raise ModelError("the URDF file cannot be read", [str(error)]) from error
        except ValueError as error:  # a path with a NUL, or a file that is not text
            raise ModelError("the URDF file cannot be read", [f"{text[:60]!r}: {error}"]) from error
    if "<!DOCTYPE" in text.upper() or "<!ENTITY" in text.upper():
        raise ModelError("the URDF is refused", ["it has a document type or entities. Remove them."])
    try:
        robot = ET.fromstring(text)
    except ET.ParseError as error:
        advice = f" {_XACRO}" if "unbound prefix" in str(error) and "<xacro:" in text else ""
        raise ModelError("the URDF is not well-formed XML", [f"{error}.{advice}"]) from error
    if any("xacro" in str(element.tag) for element in robot.iter()):
        raise ModelError("the URDF is refused", [_XACRO])
    if robot.tag != "robot":
        raise ModelError("the URDF has no robot", [f"the outermost element is <{robot.tag}>, not <robot>."])
    return robot


def _not_found(path: Path) -> str:
    """Where a file was looked for, and which one may be meant."""
    folder = path.parent.resolve()
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}."
    near = suggestion(path.name, map(attrgetter("name"), folder.iterdir()))
    return f"there is no file {path.name!r} in {str(folder)!r}.{near}"


_BOMS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"\xef\xbb\xbf": "utf-8-sig"}
_DECLARED = re.compile(rb"""<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def decoded(content: bytes) -> str:
    """The text of an XML file by its byte order mark or the encoding it declares, else UTF-8.

    A `ValueError` says which byte is not text in that encoding, and what to write.
    """
    declared = _DECLARED.match(content.lstrip()[:200])
    encoding = next((name for mark, name in _BOMS.items() if content.startswith(mark)), "")
    encoding = encoding or (declared.group(1).decode() if declared else "utf-8")
    try:
        return content.decode(encoding)
    except LookupError as error:
        raise ValueError(f"the file declares the encoding {encoding!r}, which is unknown. Save it as UTF-8.") from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"byte {content[error.start]:#04x} at position {error.start} is not {encoding} text. Save the file as "
            'UTF-8, or declare its encoding in the first line: <?xml version="1.0" encoding="latin-1"?>.'
        ) from error


def _number(text: str) -> float:
    """A number as XML writes it: no digits of other scripts and no 1_000, which Python would read."""
    if not text.isascii() or "_" in text:
        raise ValueError(text)
    return float(text)


class _Reader:
    """Bodies from elements, with all findings collected."""

    def __init__(self, robot: ET.Element, floating: bool, actuated: bool | Sequence[str], identified: bool) -> None:
        self.findings: list[str] = []
        self.floating, self.actuated, self.identified = floating, actuated, identified
        self.links, self.joints = (self._by_name(robot, tag) for tag in ("link", "joint"))
        if not isinstance(actuated, bool):
            self._refuse_immovable(actuated)

    def _by_name(self, robot: ET.Element, tag: str) -> dict[str, ET.Element]:
        elements = robot.findall(tag)
        for name, times in Counter(e.get("name", "") for e in elements).items():
            if not name:
                self.findings.append(f"a <{tag}> has no name.")
            elif times > 1:
                self.findings.append(f"{times} {tag}s are called {name!r}. Give each its own name.")
        return {e.get("name", ""): e for e in elements}

    def _refuse_immovable(self, actuated: Sequence[str]) -> None:
        """Only joints that move and do not mimic another can have a motor."""
        wrong = "the actuated joint"
        for name in [actuated] if isinstance(actuated, str) else actuated:
            if name not in self.joints:
                near = suggestion(name, self.joints) or f" The joints are {', '.join(self.joints)}."
                self.findings.append(f"{wrong} {name!r} is not a joint.{near}")
            elif self.joints[name].get("type") in ("fixed", "floating"):
                self.findings.append(f"{wrong} {name!r} is of the type {self.joints[name].get('type')!r}.")
            elif self.joints[name].find("mimic") is not None:
                self.findings.append(f"{wrong} {name!r} mimics another. Give the torque to that one.")

    def bodies(self) -> list[Body]:
        carried: dict[str, str] = {}
        for name, joint in self.joints.items():
            for end in ("parent", "child"):
                self._refuse_missing(name, joint, end)
            child = self._end(joint, "child")
            if child in carried:
                self.findings.append(f"the link {child!r} is the child of two joints, {carried[child]!r} and {name!r}.")
            carried[child] = name
        roots = [name for name in self.links if name not in carried]
        if not self.links:
            self.findings.append("there are no links.")
        elif len(roots) != 1:
            self.findings.append(f"there are {len(roots)} root links ({', '.join(roots)}). A robot has one.")
        if self.findings:
            return []
        return [self._body(name, self.joints.get(carried.get(name, ""))) for name in self.links]

    def _refuse_missing(self, name: str, joint: ET.Element, end: str) -> None:
        link = self._end(joint, end)
        if not link:
            self.findings.append(f"the joint {name!r} has no <{end} link=...>.")
        elif link not in self.links:
            self.findings.append(
                f"the {end} {link!r} of the joint {name!r} is not a link.{suggestion(link, self.links)}"
            )

    @staticmethod
    def _end(joint: ET.Element, end: str) -> str:
        element = joint.find(end)
        return element.get("link", "") if element is not None else ""

    def _numbers(self, element: ET.Element | None, key: str, default: str, where: str) -> list[float]:
        text = element.get(key, default) if element is not None else default
        usual = [float(x) for x in default.split()]
        try:
            found = [_number(x) for x in text.split()]
        except ValueError:
            advice = f" {_XACRO}" if "$" in text else ""
            self.findings.append(f"{key}={text!r} of {where} is not a list of numbers.{advice}")
            return usual
        if len(found) != len(usual) or not np.all(np.isfinite(found)):
            many = "a finite number" if len(usual) == 1 else f"{len(usual)} finite numbers"
            self.findings.append(f"{key}={text!r} of {where} must be {many}.")
            return usual
        return found

    def _body(self, link: str, joint: ET.Element | None) -> Body:
        inertial = self._inertial(link)
        if joint is None:
            return Body(link, None, joint="free" if self.floating else "fixed", **inertial)
        name, kind = joint.get("name", ""), joint.get("type", "")
        if kind not in JOINTS:
            near = suggestion(kind, JOINTS)
            self.findings.append(f"the joint {name!r} has the type {kind!r}.{near} The types are {', '.join(JOINTS)}.")
            kind = "fixed"
        origin, losses = joint.find("origin"), joint.find("dynamics")
        where = f"the joint {name!r}"
        moves = JOINTS[kind] in ("revolute", "prismatic")
        passive: dict[str, Any] = {}
        if moves:
            passive = {key: self._loss(losses, key, where) for key in ("damping", "friction")}
        return Body(
            link, self._end(joint, "parent"), joint=JOINTS[kind],
            axis=self._numbers(joint.find("axis"), "xyz", "1 0 0", where),
            origin=self._numbers(origin, "xyz", "0 0 0", where),
            rotation=rotation_rpy(*self._numbers(origin, "rpy", "0 0 0", where)),
            angle=_coordinates(name, JOINTS[kind]), torque=self._torques(name, joint, JOINTS[kind]),
            **inertial, **passive,
        )  # fmt: skip

    def _loss(self, losses: ET.Element | None, key: str, where: str) -> float:
        """Damping or friction, which must not be negative."""
        (value,) = self._numbers(losses, key, "0", where)
        if value < 0:
            self.findings.append(
                f"{key}={value:g} of {where} is negative and would drive the joint. Give a number >= 0."
            )
        return value

    def _torques(self, name: str, joint: ET.Element, kind: str) -> list[sp.Symbol] | None:
        """Inputs of an independent joint; a free joint has none."""
        if not self._has_motor(name) or kind in ("fixed", "free") or joint.find("mimic") is not None:
            return None
        return [sp.Symbol(f"tau_{name}_{label}" if label else f"tau_{name}") for label in KINDS[kind].labels]

    def _has_motor(self, name: str) -> bool:
        named = [self.actuated] if isinstance(self.actuated, str) else self.actuated
        return named if isinstance(named, bool) else name in named

    def _inertial(self, link: str) -> dict[str, Any]:
        element, where = self.links[link].find("inertial"), f"the link {link!r}"
        if element is None:
            return {}
        origin, matrix = element.find("origin"), element.find("inertia")
        for tag, part in (("mass value", element.find("mass")), ("inertia ixx", matrix)):
            if part is None or part.get(tag.split()[1]) is None:
                self.findings.append(f"the <inertial> of {where} has no <{tag}=...>. Give it, or leave <inertial> out.")
        R = rotation_rpy(*self._numbers(origin, "rpy", "0 0 0", where))
        keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
        xx, yy, zz, xy, xz, yz = (self._numbers(matrix, key, "0", where)[0] for key in keys)
        J = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        center, mass = (
            self._numbers(origin, "xyz", "0 0 0", where),
            self._numbers(element.find("mass"), "value", "0", where),
        )
        return {
            "mass": mass[0],
            "center_of_mass": center if mass[0] else (0, 0, 0),
            "inertia": J,
            "identified": self.identified,
        }

    def mimics(self, bodies: Sequence[Body]) -> list[Holonomic]:
        """q = multiplier · q_other + offset for every mimic joint."""
        found = []
        by_joint = {name: self._end(joint, "child") for name, joint in self.joints.items()}
        coordinate = {body.name: body.coordinates for body in bodies}
        for name, joint in self.joints.items():
            mimic = joint.find("mimic")
            if mimic is None or joint.get("type") == "fixed":
                continue
            other = mimic.get("joint", "")
            moving = [len(coordinate[by_joint[x]]) for x in (name, other) if x in by_joint]
            where = f"the mimic of the joint {name!r}"
            k, b = (self._numbers(mimic, key, usual, where)[0] for key, usual in (("multiplier", "1"), ("offset", "0")))
            if self._refuse_mimic(name, other, moving):
                continue
            q, leader = coordinate[by_joint[name]][0], coordinate[by_joint[other]][0]
            found.append(Holonomic(q - k * leader - b, name=f"{name} mimic"))
        return found

    def _refuse_mimic(self, name: str, other: str, moving: Sequence[int]) -> bool:
        """Whether the mimic is invalid: the two joints must be different and have one coordinate each."""
        if other not in self.joints:
            why = f"which is not a joint.{suggestion(other, self.joints)}"
        elif other == name:
            why = "itself. Name the joint it follows."
        elif moving != [1, 1]:
            why = "but one of them does not have one coordinate. Use revolute, continuous or prismatic joints."
        else:
            return False
        self.findings.append(f"the joint {name!r} mimics {other!r}, {why}")
        return True


def _coordinates(joint: str, kind: str) -> list[sp.Expr] | None:
    """Coordinates named after the joint."""
    names = [f"{joint}_{label}" if label else joint for label in KINDS[kind].labels]
    return [function_of_time(name) for name in names] or None
