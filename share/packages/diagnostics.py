#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the index of all diagnostics from the sources and the pages, or check that it is up to date.

    diagnostics.py SOURCE_DIR [--update | --data FILE]

Each code has to be in a page and in a test.
docs/diagnostics.md is for people; --data writes what `buda explain` reads, as the build does. Of each code: what its messages say, with … for what is filled
in, and which pages have it, with the row of the table in which a page explains it.
"""
import json
import pathlib
import re
import sys

SOURCES = ("core", "plugins", "apps")
CODE = re.compile(r'"([A-Z]{2}\d{3})"')
ROW = re.compile(r"^\| *((?:`?[A-Z]{2}\d{3}`?(?:, | and | ?[–-] ?| to )?)+) *\| *(.*?) *\|", re.M)
COLON = re.compile(r"(?<!:):(?!:)")  # of a condition, not of a name
LONGEST = 240
INDEX = "docs/diagnostics.md"
# Files that name codes without giving them.
LISTS = {"tests/robustness/failing_compiles.py"}
HEAD = """# Diagnostics

What a message with a code says, and where it is explained; `buda explain CODE` prints the same. Generated from the sources (`share/packages/diagnostics.py . --update`): … stands for what a message fills in.

| code | of | it says | page |
|---|---|---|---|
"""


def arguments_after(text, start):
    """The source of a call's arguments from `start` on, split at its commas; the call ends where its parenthesis closes."""
    depth, begin, out, at = 0, start, [], start
    while at < len(text):
        c = text[at]
        if c == '"':
            at = re.compile(r'"(?:\\.|[^"\\])*"').match(text, at).end()
            continue
        if c == "'" and (char := re.compile(r"'(?:\\.|[^'\\])'").match(text, at)):
            at = char.end()
            continue
        depth += (c in "([{") - (c in ")]}")
        if depth < 0 or c == ";":
            break
        if c == "," and depth == 0:
            out.append(text[begin:at])
            begin = at + 1
        at += 1
    return out + [text[begin:at]]


def skeleton(argument):
    """The literals of a message, with … for what stands between them."""
    out, begin, empty = "", 0, False
    for literal in re.finditer(r'"((?:\\.|[^"\\])*)"|\'((?:\\.|[^\'\\]))\'', argument):
        text = literal[1] if literal[1] is not None else literal[2]
        between = gap(argument[begin:literal.start()], begin > 0)
        out += between if text and not empty else between.replace(" / ", "")
        empty = begin > 0 and not text  # what may be left out has no alternative
        out += text.encode().decode("unicode_escape", "ignore") if "\\" in text else text
        begin = literal.end()
    end = gap(argument[begin:], begin > 0)
    out += end.replace(" / ", "") if empty else end
    return re.sub(r"…+", "…", re.sub(r"\s+", " ", out)).strip()


def messages_of(argument):
    return [m for m in map(skeleton, alternatives(argument)) if re.search("[a-z]", m)]


def gap(source, follows):
    """… where a value is filled in between two literals, / between two that exclude each other; nothing for commas, and for the call that joins them."""
    before, other, after = next(((source[:m.start()], True, source[m.end():]) for m in COLON.finditer(source)), (source, False, ""))
    if follows and other:
        return gap(before, True) + " / " + gap(after, True)
    names = re.sub(r"\bcat\b|\bstd::move\b", "", source)
    return "…" if re.search(r"\w", names) and (follows or "cat" in source) else ""


def alternatives(argument):
    """The sources of the messages of which a condition chooses one; mostly there is one."""
    depth, begin, out, at, plain = 0, 0, [], 0, argument
    while at < len(plain):
        c = plain[at]
        if c in "\"'":
            literal = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\'').match(plain, at)
            at = literal.end() if literal else at + 1
            continue
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c == "?":
            begin = at + 1
        elif depth == 0 and COLON.match(plain, at) and plain[at - 1:at] != ":" and begin > 0:
            out.append(plain[begin:at])
            begin = at + 1
        at += 1
    return out + [plain[begin:]]


def messages_in(text):
    """(code, what it says) for each place that names a code."""
    plain = re.sub(r"//[^\n]*", "", text)
    for match in CODE.finditer(plain):
        said = [m for m in map(messages_of, arguments_after(plain, match.end())) if re.search(r"[a-z]{3}", " ".join(m))]
        for says in next((m for m in said if re.search(r"\w .*\w|… \w", " ".join(m))), said[0] if said else [""]):
            yield match[1], says if len(says) <= LONGEST else says[:LONGEST].rsplit(" ", 1)[0] + " …"


def module_of(path):
    return path.parts[2] if path.parts[:2] == ("core", "buda") else "/".join(path.parts[1:3]) if path.parts[0] == "plugins" else path.parts[1]


def codes_in(text):
    """Codes of a table's first cell: single ones, and from one to another."""
    for letters, first, last in re.findall(r"([A-Z]{2})(\d{3})`?(?:(?: ?[–-] ?| to )`?[A-Z]{2}(\d{3}))?", text):
        yield from (f"{letters}{number:03}" for number in range(int(first), int(last or first) + 1))


def without_links(text):
    """Links lead from the page that the text comes from; a terminal has none."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)


def rows_of(root):
    """By code: (page, explanation), the first that has a row for it; else the first page that names it."""
    rows, named = {}, {}
    for page in sorted((root / "docs").rglob("*.md")):
        path = str(page.relative_to(root))
        if path == INDEX or path.startswith("docs/conformance"):
            continue
        text = page.read_text()
        for codes, explanation in ROW.findall(text):
            for code in codes_in(codes):
                rows.setdefault(code, (path, without_links(explanation)))
        for code in re.findall(r"\b([A-Z]{2}\d{3})\b", text):
            named.setdefault(code, (path, ""))
    return {**named, **rows}


def index_of(root):
    pages, out = rows_of(root), {}
    for top in SOURCES:
        for path in sorted(p for p in (root / top).rglob("*") if p.suffix in {".cpp", ".hpp"}):
            for code, says in messages_in(path.read_text()):
                entry = out.setdefault(code, {"code": code, "module": module_of(path.relative_to(root)), "says": []})
                if says and says not in entry["says"]:
                    entry["says"].append(says)
    for code, entry in out.items():
        entry["page"], explained = pages.get(code, ("", ""))
        entry["explained"] = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", explained)
    return [out[code] for code in sorted(out)]


def tested_codes(root):
    """Codes that a test names."""
    out = set()
    for path in (root / "tests").rglob("*"):
        if path.suffix in {".cpp", ".hpp", ".py", ".sh", ".test", ".txt", ".mjs"} and str(path.relative_to(root)) not in LISTS:
            out.update(re.findall(r"\b[A-Z]{2}\d{3}\b", path.read_text(errors="replace")))
    return out


def unkept(root, entries):
    """What is wrong with pages and tests of codes."""
    tested = tested_codes(root)
    yield from (f"{e['code']}: no page of docs names it" for e in entries if not e["page"])
    yield from (f"{e['code']}: no test names it" for e in entries if e["code"] not in tested)


def page_of(entries):
    def cell(text):
        return text.replace("|", "\\|").replace("<", "&lt;")

    def link(page):
        return f"[{pathlib.PurePosixPath(page).stem}]({page.removeprefix('docs/')})" if page else ""
    rows = (f"| {e['code']} | {e['module']} | {cell('; '.join(e['says']) or e['explained'])} | {link(e['page'])} |\n" for e in entries)
    return HEAD + "".join(rows)


def main():
    root = pathlib.Path(sys.argv[1])
    entries = index_of(root)
    if sys.argv[2:3] == ["--data"]:
        pathlib.Path(sys.argv[3]).write_text(json.dumps(entries, indent=0, ensure_ascii=False) + "\n")
        return
    page = page_of(entries)
    silent = [e["code"] for e in entries if not e["says"] and not e["explained"]]
    problems = [f"{code}: neither a message nor a page says what it means" for code in silent]
    problems += unkept(root, entries)
    if "--update" in sys.argv:
        (root / INDEX).write_text(page)
    elif not (root / INDEX).exists() or (root / INDEX).read_text() != page:
        problems.append(f"{INDEX} is not up to date: run share/packages/diagnostics.py . --update")
    print("\n".join(problems))
    print(f"{len(entries)} codes, {len(problems)} findings")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
