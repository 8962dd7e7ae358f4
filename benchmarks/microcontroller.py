"""Bytes of code and stack of exported C on a Cortex-M4: ``python -m benchmarks.microcontroller``.

The code of a function with the functions that it calls, without the C library; the stack likewise, along the deepest
chain of calls. Needs arm-none-eabi-gcc (Debian: gcc-arm-none-eabi, libnewlib-arm-none-eabi).
"""

import re
import subprocess
import tempfile
from pathlib import Path

import vinculum as vn
from examples import ball_and_beam, delta_robot, puma560

FLAGS = ("-std=c99", "-Os", "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16",
         "-ffunction-sections", "-fstack-usage", "-fno-inline", "-Wdouble-promotion")  # fmt: skip


def cases(real: str, folder: Path) -> dict[str, tuple[Path, str]]:
    """{row of the table: (source, function)}."""
    equations, rest, linear, law = ball_and_beam.stabilized(0)
    estimator = vn.observe(linear, [ball_and_beam.r, ball_and_beam.theta])
    start = {key: float(rest[key]) for key in equations.system.coordinates if key in rest}
    guess = {ball_and_beam.alpha: start.pop(ball_and_beam.alpha)}
    delta, at, _, _ = delta_robot.stabilized()
    begin = {q: float(at[q]) + 0.05 for q in delta_robot.theta} | {q.diff(): 0.0 for q in delta_robot.theta}
    near = {delta_robot.Z: delta_robot.HEIGHT}
    common = {"real": real, "fold": True}
    board = vn.export_c(law, folder / "board", estimator=estimator, period=0.01, real=real)[1]
    ball = vn.export_c(equations, folder / "ball", initial=start, guess=guess, **common)[1]
    arm = vn.export_c(puma560.tree(), folder / "arm", points={"tool": ("link6", (0, 0, 0.1))}, **common)[1]
    robot = vn.export_c(delta, folder / "delta", initial=begin, guess=near, **common)[1]
    return {
        "ball and beam, controller with observer: `step`": (board, "board_step"),
        "ball and beam, `rates`": (ball, "ball_rates"),
        "ball and beam, `step` of RK4": (ball, "ball_step"),
        "PUMA 560, `inverse` dynamics": (arm, "arm_inverse"),
        "PUMA 560, `forward` dynamics": (arm, "arm_forward"),
        "PUMA 560, Jacobian of the tool": (arm, "arm_tool_jacobian"),
        "Delta robot, `rates`": (robot, "delta_rates"),
    }


def sizes(source: Path, function: str) -> tuple[int, int]:
    """(code, stack) of a function with all that it calls."""
    target = source.with_suffix(".o")
    subprocess.run(["arm-none-eabi-gcc", *FLAGS, "-c", "-o", str(target), str(source)], check=True)
    table = subprocess.run(["arm-none-eabi-nm", "-S", str(target)], check=True, capture_output=True, text=True).stdout
    code = {name: int(size, 16) for size, name in re.findall(r"^\w+ (\w+) [tT] (\w+)$", table, re.MULTILINE)}
    stack = {line.split("\t")[0].split(":")[-1]: int(line.split("\t")[1])
             for line in target.with_suffix(".su").read_text().splitlines()}  # fmt: skip
    calls = _calls(target, set(code))
    reached = _reached(function, calls)
    return sum(code[name] for name in reached), _deepest(function, calls, stack)


def _calls(target: Path, known: set[str]) -> dict[str, set[str]]:
    """The functions of the file that each function calls, also through pointers."""
    text = subprocess.run(
        ["arm-none-eabi-objdump", "-dr", str(target)], check=True, capture_output=True, text=True
    ).stdout
    found: dict[str, set[str]] = {}
    for part in re.split(r"^\w+ <(?=\w+>:$)", text, flags=re.MULTILINE)[1:]:
        own = part.split(">")[0]
        used = set(re.findall(r"R_ARM_\w+\s+(?:\.text\.)?(\w+)", part))
        found[own] = (used & known) - {own}
    return found


def _reached(function: str, calls: dict[str, set[str]]) -> set[str]:
    return {function}.union(*(_reached(name, calls) for name in calls.get(function, ())))


def _deepest(function: str, calls: dict[str, set[str]], stack: dict[str, int]) -> int:
    return stack[function] + max((_deepest(name, calls, stack) for name in calls.get(function, ())), default=0)


def main() -> None:
    """Print the table of the documentation."""
    found: dict[str, list[int]] = {}
    for real in ("float", "double"):
        with tempfile.TemporaryDirectory() as folder:
            for row, (source, function) in cases(real, Path(folder)).items():
                found.setdefault(row, []).extend(sizes(source, function))
    print("| function | float: code | stack | double: code | stack |\n|---|---|---|---|---|")
    for row, numbers in found.items():
        print(f"| {row} | {' | '.join(map(str, numbers))} |")


if __name__ == "__main__":
    main()
