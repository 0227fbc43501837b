#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tutorial on accuracy, word for word: its commands run, and end as it says; what it shows of their output is there.

    accuracy.py BUILD_DIR SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FAILS = ("-o fast.npz", "-o never.tti")  # what the tutorial says to end with exit code 4


def blocks(page):
    """Lines that are indented, block by block."""
    block = []
    for line in [*page.splitlines(), ""]:
        if line.startswith("    "):
            block.append(line.strip())
        elif block:
            yield block
            block = []


def numbers_blanked(line):
    return re.sub(r"[+-]?\d[\d.]*", "N", line)


def main():
    build, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    page = (source / "docs/tutorial/accuracy.md").read_text()
    problems, count, output = [], 0, ""
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        (place / "build").mkdir()
        (place / "build/release").symlink_to(build)
        (place / "share").symlink_to(source / "share")
        for block in blocks(page):
            if block[0].startswith("optimizer: "):
                told = [numbers_blanked(line) for line in output.splitlines()]
                problems += [f"not told: {line}" for line in block if numbers_blanked(line) not in told]
                continue
            for command in block:
                if command.startswith("export "):
                    continue
                done = subprocess.run(["sh", "-c", f'PATH={place}/build/release/bin:"$PATH"; {command}'], cwd=place, capture_output=True, text=True)
                output, count = done.stdout + done.stderr, count + 1
                if done.returncode != (4 if command.endswith(FAILS) else 0):
                    problems.append(f"{command}\nends with {done.returncode}:\n{output}")
                if command.endswith("-o fast.npz") and ("RN009" not in output or "RN010" not in output):
                    problems.append(f"{command}\ntells nothing of what would mend it:\n{output}")
    print("\n".join([*problems, f"{count} commands, {len(problems)} problems"]))
    return 1 if problems or count < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
