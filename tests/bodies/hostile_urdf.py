"""URDF files of a stranger: every one is read, or refused in our words, within seconds.

make urdfs ARGS="--count 1000"
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
from collections import Counter
from pathlib import Path

import vinculum as vn

NUMBERS = [
    "0",
    "-1",
    "1e308",
    "1e-308",
    "inf",
    "nan",
    "",
    "x",
    "1,5",
    "9" * 400,
    "0x1",
    "1 2",
    "-0.0",
    "1e999",
    "\u0661",
]
WORDS = ["revolute", "prismatic", "floating", "planar", "fixed", "continuous", "screw", "world", "l1", "l2", "", " ",
         "a" * 5000, "\u202e", "__import__('os')", "l1/../l2", "%s", "{0}"]  # fmt: skip
EXTRA = [
    "<link/>", '<link name="l1"/>', '<joint name="j9" type="revolute"/>', "<robot/>", "<!-- -- -->",
    '<joint name="j1" type="fixed"><parent link="l4"/><child link="world"/></joint>', '<mimic joint="j1"/>', "&x;",
    "&amp;", "<![CDATA[<link>]]>", "<origin/>",
    "<axis/>", "<inertial/>", '<mass value="-5"/>', "<a>" * 3000, '<axis xyz="0 0 0"/>', "\x00", "\ufeff",
]  # fmt: skip
BOMBS = [
    '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(9)
    ) + "]><robot name='&j;'/>",
    '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><link name="&x;"/></robot>',
    '<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="r"><link name="a"/></robot>',
    "<robot name='r'>" + "<link>" * 20_000,
    "<robot name='r'>" + "".join(f'<link name="l{i}"/>' for i in range(3000)) + "</robot>",
    "<robot", "", "<a/>", "<robot/>", "\x00" * 100, "robot",
]  # fmt: skip
LONGEST = 20  # seconds


def mutant(text: str, number: int, seed: int = 1) -> str:
    """A changed file; the first ones are famous."""
    if number < len(BOMBS):
        return BOMBS[number]
    r = random.Random(f"{seed} {number}")
    for _ in range(r.choice((1, 1, 2, 3, 6))):
        kind = r.randrange(7)
        values = list(re.finditer(r'"([^"]*)"', text))
        tags = list(re.finditer(r"<[^>]*>", text))
        i = r.randrange(len(text))
        if kind == 0 and values:
            one = r.choice(values)
            text = text[: one.start(1)] + r.choice(NUMBERS + WORDS) + text[one.end(1) :]
        elif kind == 1 and values:
            one, other = r.choice(values), r.choice(values)
            text = text[: one.start(1)] + other.group(1) + text[one.end(1) :]
        elif kind == 2 and tags:
            one = r.choice(tags)
            text = text[: one.start()] + text[one.end() :]
        elif kind == 3 and tags:
            one = r.choice(tags)
            text = text[: one.end()] + r.choice(EXTRA) + text[one.end() :]
        elif kind == 4:
            text = text[:i] + r.choice("<>&\"'/=!\x01 é") + text[i:]
        elif kind == 5 and tags:
            one, other = r.choice(tags), r.choice(tags)
            text = text[: other.end()] + one.group() + text[other.end() :]
        else:
            text = text[:i] + text[i + r.randrange(1, 60) :]
        if not text:
            return text
    return text


def judge(text: str, folder: Path) -> str:
    """Read, refused, or what went wrong."""
    path = folder / "robot.urdf"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.alarm(LONGEST)
    try:
        system = vn.from_urdf(path)
        repr(system)
        if len(system.coordinates) < 8:
            vn.derive(system)
        return "read"
    except vn.VinculumError as error:
        return "refused" if str(error) else "failure: a refusal without words"
    except KeyboardInterrupt:
        return f"failure: did not end within {LONGEST} s"
    except Exception as error:
        return f"failure: {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)


def main() -> None:
    import tempfile

    from bodies.test_urdf import ARM

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    asked = parser.parse_args()
    counts: Counter = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.count):
            verdict = judge(mutant(ARM, number), Path(folder))
            counts[verdict[:160]] += 1
            if verdict.startswith("failure"):
                print(number, verdict[:300], flush=True)
    for verdict, times in counts.most_common():
        print(f"{times:6d}  {verdict}")
    sys.exit(any(verdict.startswith("failure") for verdict in counts))


if __name__ == "__main__":
    main()
