#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/options.md says which options of the PyBuda documents are where. This asks the tools whether they know them, and looks whether the tests that are named use them.

    check.py BUILD_DIR SOURCE_DIR
"""
import pathlib
import re
import subprocess
import sys

from table import TOOLS, options_of, rows, spellings


def says_why(name, build):
    """Whether the driver, given an option that is not there, says what does the same or why nothing does."""
    for option in (["--set", f"{name}=1"], [f"--{name.replace('_', '-')}=1"]):
        done = subprocess.run([build / "bin/buda", "compile", "model.onnx", *option], capture_output=True, text=True, check=False)
        if done.returncode != 2 or not re.search(r"PyBuda's option '\S+' is not there: \S", done.stderr):
            return False
    return True


def main():
    build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    page = source / "docs/options.md"
    # By tool and spelling: the option's name.
    keys = {tool: {key: option["name"] for option in options_of(tool, build) for key in spellings(option)} for tool in TOOLS}
    problems, found = [], 0
    for row in rows(page):
        where = f"docs/options.md:{row.line}"
        text = (source / row.test).read_text() if row.test and (source / row.test).is_file() else ""
        if row.test and not text:
            problems.append(f"{where}: there is no test {row.test}")
        # An option of another form (of a single op) or one that is missing has no name of its own.
        for name in row.names:
            found += 1
            if row.is_option() and name not in keys[row.stage]:
                problems.append(f"{where}: {row.stage} does not know '{name}'")
            if row.is_absent() and re.fullmatch("[a-z_]+", name) and not says_why(name, build):
                problems.append(f"{where}: 'buda compile' does not say why there is no '{name}'")
            if not row.is_option() and any(name in known for known in keys.values()):
                problems.append(f"{where}: '{name}' is an option of a tool, which the page does not say")
        if row.is_option() and (option := keys[row.stage].get(row.names[0])):
            known = [*row.names, *(key for key, name in keys[row.stage].items() if name == option)]
            if not any(spelling in text for spelling in known):
                problems.append(f"{where}: {row.test} does not use {row.names[0]}")
        for option in re.findall(r"`--([a-z0-9-]+)`", row.here):
            if row.stage in TOOLS and option not in keys[row.stage]:
                problems.append(f"{where}: {row.stage} has no --{option}")
    if found < 75:
        problems.append(f"docs/options.md: only {found} options were found in the table")
    for problem in problems:
        print(problem)
    print(f"{found} options, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
