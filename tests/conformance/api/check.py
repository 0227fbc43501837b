#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/api.md says where the classes and functions of the PyBuda documents are. This looks whether the names are in public headers, in the Python module
or on the tools' pages, and the tests use them.

    check.py SOURCE_DIR [REFERENCE [GUIDE]]

REFERENCE is PyBuda's API reference as text, GUIDE its user guide. Where they are there, each signature of the reference with all arguments has to be in the tables, and each name of PyBuda, variable
and option of the guide in them or in docs/options.md.
"""
import pathlib
import re
import sys


def rows(page):
    """Line, and the three columns, of every row of the tables."""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        cells = [c.strip() for c in line.strip().strip("|").split(" | ")] if line.startswith("| ") else []
        if cells and cells[0] != "PyBuda":
            yield number, *(cells + ["", ""])[:3]


def names_here(cell):
    """Names of C++ in a cell, the last part of each, names of Python, and options."""
    for token in re.findall(r"`([^`]+)`", cell):
        if token.startswith(("--", "openbuda.")):
            yield token
        elif "::" in token:
            yield token.rpartition("::")[2]


def signatures(text):
    """(name, with its class in front, and arguments) of what the reference lists in full."""
    owner = ""
    for line in text.splitlines():
        match = re.match(r"(class )?([A-Za-z_]\w*)\((.*)\)$", line.strip()) or re.match(r"(class )(\w+)()$", line.strip())
        if not match or ("," in match[3] and ":" not in match[3] and "*args" not in match[3]) or re.search(r"\[,|, …\]|\[\w+,", match[3]):
            continue
        if re.search(r"^\w+(?:, \w+)*$", match[3]) and match[3] not in ("self", "name", "cmd"):
            continue  # an entry of a list, without types
        name = match[2]
        if match[1]:
            owner = name
        elif owner:
            name = f"{owner}.{name}"
        # Names before a colon or an equals sign, and bare ones; not those inside of types.
        flat = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", re.sub(r"<[^>]*>", "", match[3]))))
        arguments = [re.match(r"\*{0,2}(\w+)", part.strip())[1] for part in re.sub(r"\([^()]*\)", "", flat).split(",") if re.match(r"\*{0,2}\w", part.strip())]
        yield name, [a for a in arguments if not a.startswith("_")]


def guide_names(text):
    """Names below pybuda, variables and options. The last part of the guide is the manual of another program."""
    text = re.split(r"^TT-SMI$", text, flags=re.M)[0]
    found = set(re.findall(r"(?<![\w/])pybuda\.([A-Za-z_]\w*(?:\.\w+)*)", text)) | set(re.findall(r"\b(?:PYBUDA|TT_BACKEND)_\w+", text)) | set(re.findall(r"(?<![\w-])--[a-z]\w+", text))
    return sorted(n for n in found if n not in ("--help", "py"))


def main():
    source = pathlib.Path(sys.argv[1])
    headers = "\n".join((source / "core" / h).read_text() for h in (source / "core/public_headers.txt").read_text().splitlines() if h.startswith("buda/"))
    python = "\n".join(p.read_text() for p in sorted((source / "apps/python").rglob("*.py")) + sorted((source / "apps/python").glob("*.[ch]pp")))
    pages = "\n".join(p.read_text() for p in (source / "docs/tools").glob("*.md"))
    problems, table, missing = [], {}, 0
    for line, names, here, test in rows(source / "docs/api.md"):
        where = f"docs/api.md:{line}"
        for name in re.findall(r"`([\w.:]+)(?:\([^`]*\))?`", names):
            table[name] = f"{names} {here}"
        known = list(names_here(here))
        for name in known:
            place, text, word = "public header", headers, name
            if name.startswith("--"):
                place, text = "page of a tool", pages
            elif name.startswith("openbuda."):
                place, text, word = "part of the Python module", python, name.rpartition(".")[2]
            if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text):
                problems.append(f"{where}: no {place} has {name}")
        if here == "training" or re.search(r"belongs? to training", here):
            problems.append(f"{where}: training is no reason to have no equivalent")
        if here.startswith("missing") and not test:
            missing += 1
            continue
        if not (source / test).is_file():
            problems.append(f"{where}: there is no test {test or '(none is named)'}")
            continue
        text = (source / test).read_text()
        tokens = [re.split(r"[ .:]", t)[-1] for t in re.findall(r"`([^`]+)`", here)]
        if not any(re.search(rf"(?<![\w-]){re.escape(t)}(?![\w-])", text) for t in tokens):
            problems.append(f"{where}: {test} uses none of {', '.join(tokens)}")
    reference = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    asked = list(signatures(reference.read_text())) if reference and reference.is_file() else []
    for name, arguments in asked:
        if name not in table:
            problems.append(f"docs/api.md: {name} is not in it")
            continue
        for argument in arguments:
            if not re.search(rf"\b{argument}\b", table[name]):
                problems.append(f"docs/api.md: {name} lacks the argument {argument}")
    guide = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    named = guide_names(guide.read_text()) if guide and guide.is_file() else []
    pages_of_names = "".join((source / "docs" / p).read_text() for p in ("api.md", "options.md"))
    for name in named:
        if not re.search(rf"(?<![\w-]){re.escape(name)}(?!\w)", pages_of_names) and not re.search(rf"`[\w.]*\b{re.escape(name.rpartition('.')[2])}\b", pages_of_names):
            problems.append(f"neither docs/api.md nor docs/options.md has {name} of the user guide")
    if len(table) < 130:
        problems.append(f"docs/api.md: only {len(table)} names were found in the tables")
    print("\n".join(problems))
    print(f"{len(table)} names, {missing} rows without an equivalent, {len(asked)} signatures of the reference and {len(named)} names of the guide looked up, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
