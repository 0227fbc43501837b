#!/usr/bin/env python3
"""Check the list of public headers (core/public_headers.txt): they exist, include each other and the standard library only, and are enough for
all plugins, examples and templates.

    public_headers.py SOURCE_DIR
"""
import pathlib
import re
import sys

GENERATED = "buda/plugin/abi_headers.h"


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s+[<"]([^>"]+)[>"]', line):
            yield number, match[1]


def main():
    root = pathlib.Path(sys.argv[1])
    listed = [line for line in (root / "core/public_headers.txt").read_text().splitlines() if line.startswith("buda/")]
    public = set(listed) | {GENERATED}
    problems = [f"core/public_headers.txt: {h} is listed twice" for h in sorted({h for h in listed if listed.count(h) > 1})]
    for header in sorted(set(listed)):
        path = root / "core" / header
        if not path.exists():
            problems.append(f"core/public_headers.txt: there is no {header}")
            continue
        for number, included in includes(path):
            if "." in included and included not in public and included != "stdint.h":
                problems.append(f"core/{header}:{number}: a public header includes {included}, which is not public: list it in "
                                "core/public_headers.txt, or do without it")
    starts = [*root.glob("share/templates/plugin/**/*.cpp"), *root.glob("share/examples/**/*.cpp"), *root.glob("plugins/**/*.cpp"),
              *root.glob("plugins/**/*.hpp")]
    for path in sorted(starts):
        for number, included in includes(path):
            if included.startswith("buda/") and included not in public:
                problems.append(f"{path.relative_to(root)}:{number}: a plugin or an example includes {included}, which is not public")
    print("\n".join(problems))
    print(f"{len(listed)} public headers, {len(starts)} plugin and example files, {len(problems)} findings")
    sys.exit(1 if problems or not starts else 0)


if __name__ == "__main__":
    main()
