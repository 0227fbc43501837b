#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the list of public headers (core/public_headers.txt): they exist, include each other and the standard library only, make what they
declare visible, are enough for all examples and templates, and have a reader each. The plugins of this tree and the Python module may include
those of core/own_plugin_headers.txt, too, which are not installed and have such a reader each.

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
LISTS = {"public": "core/public_headers.txt", "own": "core/own_plugin_headers.txt"}
MAX_PUBLIC = 120  # without those that only the search needs


def closure(root, headers, listed):
    """Those of the listed headers that these include, directly or not."""
    seen, todo = set(), list(headers)
    while todo:
        header = todo.pop()
        if header in listed and header != GENERATED and header not in seen:
            seen.add(header)
            todo += [included for _, included in includes(root / "core" / header)]
    return seen


def sources(root, folders):
    return [path for folder in folders for suffix in ("*.cpp", "*.hpp") for path in sorted((root / folder).rglob(suffix))]


def included_by(root, folders):
    return [included for path in sources(root, folders) for _, included in includes(path)]


def reached_by(root, kind, listed):
    """The headers that plugins of a kind reach."""
    starts = [f"buda/plugin/{kind}.hpp", "buda/plugin/plugin.hpp"]
    for path in sources(root, KINDS[kind]):
        if not any(path.is_relative_to(root / other) for other in WITH_ALL_HEADERS):
            starts += [included for _, included in includes(path)]
    return sorted(closure(root, starts, listed))


def sections(root, name):
    """Title → headers, of a list."""
    found, title = {}, ""
    for line in (root / LISTS[name]).read_text().splitlines():
        if line.startswith("# "):
            title = line[2:]
        elif line:
            found.setdefault(title, []).append(line)
    return found


def used_in_pages(root, header, pages):
    """Whether a page uses a name that the header declares."""
    names = re.findall(r"^(?:class|struct) (\w+)|\b(\w+)\([^()]*[*&]", (root / "core" / header).read_text(), re.M)
    return any(re.search(rf"\b{a or b}\b", pages) for a, b in names)


def check_readers(root, public, own):
    """Each public header has a reader: an interface of plugins, a template, an example, a page, the search; the others in this tree."""
    pages = "\n".join(path.read_text() for path in sorted((root / "docs").rglob("*.md")))
    starts = [f"buda/plugin/{kind}.hpp" for kind in (*KINDS, "plugin")] + included_by(root, ["share/templates", "share/examples"])
    by_title = sections(root, "public")
    of_search = set(next(headers for title, headers in by_title.items() if title.startswith("The search")))
    by_name = next(headers for title, headers in by_title.items() if title.startswith("Whose names pages use"))
    starts += set(re.findall(r"\bbuda/[\w/]+\.hpp", pages)) - of_search
    for header in by_name:
        if not used_in_pages(root, header, pages):
            yield f"{LISTS['public']}: no page uses a name of {header}"
    read = closure(root, [*starts, *by_name], public)
    for header in sorted(of_search & read):
        yield f"{LISTS['public']}: {header} is not of the search alone"
    for header in sorted(public - read - (of_search & closure(root, included_by(root, WITH_ALL_HEADERS), public)) - {GENERATED}):
        yield f"{LISTS['public']}: {header} has no reader: no interface of plugins, template, example or page reaches it"
    for header in sorted(own - closure(root, included_by(root, ["plugins", "apps/python"]), public | own)):
        yield f"{LISTS['own']}: {header} has no reader: no plugin of this tree includes it"
    if len(read) > MAX_PUBLIC:
        yield f"{LISTS['public']}: {len(read)} headers without those of the search; {MAX_PUBLIC} are enough"


def check_kinds(root, public, update):
    for kind in KINDS:
        path = root / "share/cmake/plugin_headers" / f"{kind}.txt"
        text = "".join(f"{header}\n" for header in reached_by(root, kind, public))
        if update:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            yield f"{path.relative_to(root)}: not what plugins of the kind reach: run public_headers.py . --update"


def check_headers(root, name, public, own):
    """A list's headers exist, once, and include no others than they may."""
    listed = [header for headers in sections(root, name).values() for header in headers]
    for header in sorted({h for h in listed if listed.count(h) > 1 or name == "own" and h in public}):
        yield f"{LISTS[name]}: {header} is listed twice"
    allowed = public if name == "public" else public | own
    for header in sorted(set(listed)):
        path = root / "core" / header
        if not path.exists():
            yield f"{LISTS[name]}: there is no {header}"
            continue
        if path.suffix == ".hpp":
            yield from visibility(header, path.read_text(), True)
        for number, included in includes(path):
            if "." in included and included not in allowed and included != "stdint.h":
                yield f"core/{header}:{number}: a {name} header includes {included}, which is not {name}: list it in {LISTS[name]}, or do without it"


def check_includes(root, starts, allowed, what):
    for path in starts:
        for number, included in includes(path):
            if included.startswith("buda/") and included not in allowed:
                yield f"{path.relative_to(root)}:{number}: {what} includes {included}, which is not listed for it"


def main():
    root = pathlib.Path(sys.argv[1])
    public, own = ({h for headers in sections(root, name).values() for h in headers} for name in LISTS)
    public.add(GENERATED)
    problems = [p for name in LISTS for p in check_headers(root, name, public, own)]
    for path in sorted((root / "core/buda").rglob("*.hpp")):
        header = str(path.relative_to(root / "core"))
        if header not in public | own:
            problems += visibility(header, path.read_text(), False)
    examples, plugins = sources(root, ["share/templates/plugin", "share/examples", *WITH_ALL_HEADERS]), sources(root, ["plugins"])
    problems += check_includes(root, examples, public, "an example, a template or the search")
    problems += check_includes(root, plugins, public | own, "a plugin")
    problems += check_readers(root, public, own)
    problems += check_kinds(root, public | own, "--update" in sys.argv)
    print("\n".join(problems))
    of_search = sum(len(headers) for title, headers in sections(root, "public").items() if title.startswith("The search"))
    print(f"{len(public) - 1 - of_search} public headers and {of_search} of the search, {len(own)} of this tree's plugins, {len(examples) + len(plugins)} plugin and example files, "
          f"{len(problems)} findings")
    sys.exit(1 if problems or not examples or not plugins else 0)


if __name__ == "__main__":
    main()
