#!/usr/bin/env python3
"""Check the list of public headers (core/public_headers.txt): they exist, include each other and the standard library only, make what they
declare visible, and are enough for all plugins, examples and templates.

    public_headers.py SOURCE_DIR
"""
import pathlib
import re
import sys

PUSH, POP = "#pragma GCC visibility push(default)", "#pragma GCC visibility pop"
GENERATED = "buda/plugin/abi_headers.h"


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s+[<"]([^>"]+)[>"]', line):
            yield number, match[1]


def visibility(header, text, public):
    """A public header makes what it declares visible outside libbuda, between its includes and its end; no other does."""
    if not public:
        return [f"core/{header}: a private header makes symbols visible"] if PUSH in text else []
    declares = re.search(r"^namespace \w", text, re.M)
    if declares and (text.count(PUSH) != 1 or text.find(PUSH) > declares.start() or not text.rstrip().endswith(POP)):
        return [f"core/{header}: a public header has `{PUSH}` after its includes, and `{POP}` as its last line"]
    return []


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
        if path.suffix == ".hpp":
            problems += visibility(header, path.read_text(), True)
        for number, included in includes(path):
            if "." in included and included not in public and included != "stdint.h":
                problems.append(f"core/{header}:{number}: a public header includes {included}, which is not public: list it in "
                                "core/public_headers.txt, or do without it")
    for path in sorted((root / "core/buda").rglob("*.hpp")):
        header = str(path.relative_to(root / "core"))
        if header not in public:
            problems += visibility(header, path.read_text(), False)
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
