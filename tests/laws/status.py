#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold README's table of what works, and what does not yet, against the tests.

    status.py [--update] SOURCE_DIR BUILD_DIR

tests/status.txt has the rows. Each names a test that ctest knows, or a file; figures come from the pages that the judges write. With --update
README.md gets the table, otherwise it must have it.
"""
import pathlib
import re
import subprocess
import sys

BEGIN, END = "<!-- written by tests/laws/status.py --update -->\n", "<!-- end -->\n"


def figure(root, page, row, column):
    """The cell of the first table with that row on a page of docs/conformance."""
    header = []
    for line in (root / "docs/conformance" / (page + ".md")).read_text().splitlines():
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if column in cells:
            header = cells
        elif header and cells[0] == row:
            return cells[header.index(column)]
    raise SystemExit(f"docs/conformance/{page}.md has no row '{row}' with a column '{column}'")


def rows(root):
    for line in (root / "tests/status.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            state, what, test = (part.strip() for part in line.split("|"))
            yield state, re.sub(r"\{([^:}]*):([^:}]*):([^}]*)\}", lambda m: figure(root, *m.groups()), what), test


def table(root):
    out = "| | | shown by |\n|---|---|---|\n"
    for state, what, test in rows(root):
        shown = f"[{pathlib.Path(test).stem}]({test})" if "/" in test else f"`{test}`"
        out += f"| {'**works**' if state == 'works' else state} | {what} | {shown} |\n"
    return out


def unknown_tests(root, build):
    listed = subprocess.run(["ctest", "-N", "-C", "Long"], cwd=build, capture_output=True, text=True).stdout
    known = set(re.findall(r"Test +#\d+: (\S+)", listed))
    for _, what, test in rows(root):
        if test not in known and not (root / test).is_file():
            yield f"tests/status.txt: no test '{test}' shows '{what}'"


def main():
    root, build = (pathlib.Path(a) for a in sys.argv[-2:])
    readme = root / "README.md"
    text = readme.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    wanted = text[:begin] + table(root) + text[end:]
    problems = list(unknown_tests(root, build))
    if "--update" in sys.argv:
        readme.write_text(wanted)
    elif wanted != text:
        problems.append("README.md: the table of what works is not that of tests/status.txt: run tests/laws/status.py --update")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
