#!/usr/bin/env python3
"""docs/options.md says which options of the PyBuda documents are where. This asks the tools whether they know them, and looks whether the tests that are named use them.

    check.py BUILD_DIR SOURCE_DIR
"""
import json
import pathlib
import re
import subprocess
import sys

TOOLS = ("importer", "optimizer", "balancer", "netlist2pipe", "pipegen", "tti-pack", "runner")


def keys_of(tool, build):
    """What the tool understands in a config file, by spelling: the option's name."""
    listed = json.loads(subprocess.run([build / "bin" / tool, "--list-options", "-"], check=True, capture_output=True).stdout)
    keys = {}
    for option in listed:
        for spelling in [option["name"], option["name"].replace("-", "_"), *option.get("known_as", [])]:
            keys[spelling] = option["name"]
    return keys


def rows(page):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4:
            yield number, re.findall(r"`([^`]+)`", cells[0]), cells[1], cells[2], cells[3]


def main():
    build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    page = source / "docs/options.md"
    keys = {tool: keys_of(tool, build) for tool in TOOLS}
    problems, found = [], 0
    for number, names, stage, here, test in rows(page):
        where = f"docs/options.md:{number}"
        text = (source / test).read_text() if test and (source / test).is_file() else ""
        if test and not text:
            problems.append(f"{where}: there is no test {test}")
        # An option of another form (a demand for one op) or one that is missing has no name of its own.
        own = stage in TOOLS and "not there yet" not in here and "op.NAME" not in here and bool(test)
        for name in names:
            found += 1
            if own and name not in keys[stage]:
                problems.append(f"{where}: {stage} does not know '{name}'")
            if not own and any(name in known for known in keys.values()):
                problems.append(f"{where}: '{name}' is an option of a tool, which the page does not say")
        if own and keys[stage].get(names[0]):
            option = keys[stage][names[0]]
            spellings = [*names, option, *(key for key, name in keys[stage].items() if name == option)]
            if not any(spelling in text for spelling in spellings):
                problems.append(f"{where}: {test} does not use {names[0]}")
        for option in re.findall(r"`--([a-z0-9-]+)`", here):
            if stage in TOOLS and option not in keys[stage]:
                problems.append(f"{where}: {stage} has no --{option}")
    if found < 75:
        problems.append(f"docs/options.md: only {found} options were found in the table")
    for problem in problems:
        print(problem)
    print(f"{found} options, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
