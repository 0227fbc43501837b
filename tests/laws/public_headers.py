#!/usr/bin/env python3
"""Check the list of public headers (core/public_headers.txt): they exist, include each other and the standard library only, make what they
declare visible, and are enough for all plugins, examples and templates.

    public_headers.py SOURCE_DIR [--update]

share/cmake/plugin_headers/KIND.txt has those that a plugin of the kind can reach, of which its digest is: what the plugins, templates and
examples of the kind include, and what that includes. --update writes these lists. The search of the policy `spread` has further headers
of its own, and the digest of all.
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


KINDS = {
    "frontend": ["plugins/frontends", "share/templates/plugin/frontend"],
    "decomposition": ["plugins/decompositions", "share/templates/plugin/decomposition"],
    "policy": ["plugins/policies", "share/templates/plugin/policy", "share/examples/policies"],
    "target": ["plugins/targets", "share/templates/plugin/target"],
}
WITH_ALL_HEADERS = ["plugins/policies/spread"]


def reached_by(root, kind, public):
    """The public headers that plugins of a kind reach."""
    todo = [f"buda/plugin/{kind}.hpp", "buda/plugin/plugin.hpp"]
    for folder in KINDS[kind]:
        for path in [*(root / folder).rglob("*.cpp"), *(root / folder).rglob("*.hpp")]:
            if not any(path.is_relative_to(root / other) for other in WITH_ALL_HEADERS):
                todo += [included for _, included in includes(path)]
    seen = set()
    while todo:
        header = todo.pop()
        if header in public and header != GENERATED and header not in seen:
            seen.add(header)
            todo += [included for _, included in includes(root / "core" / header)]
    return sorted(seen)


def check_kinds(root, public, update):
    for kind in KINDS:
        path = root / "share/cmake/plugin_headers" / f"{kind}.txt"
        text = "".join(f"{header}\n" for header in reached_by(root, kind, public))
        if update:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            yield f"{path.relative_to(root)}: not what plugins of the kind reach: run public_headers.py . --update"


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
    problems += check_kinds(root, public, "--update" in sys.argv)
    print("\n".join(problems))
    print(f"{len(listed)} public headers, {len(starts)} plugin and example files, {len(problems)} findings")
    sys.exit(1 if problems or not starts else 0)


if __name__ == "__main__":
    main()
