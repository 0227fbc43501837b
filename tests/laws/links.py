#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links and anchors of the pages lead somewhere, and every page of docs is reached from the README.

    links.py ROOT                       all Markdown files that git lists below ROOT
    links.py --installed ROOT PREFIX    those that an installation in PREFIX has; without PREFIX in a place of its own
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse

FENCE = re.compile(r"^(```|~~~)")
LINK = re.compile(r"!?\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\]\(([^()\s]+(?:\([^()]*\))?)\)")
HEADING = re.compile(r"^#{1,6} +(.*?)(?: +#+)?$")
EXPLICIT = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")


def lines_of(text):
    """Lines with their numbers, but for those of code blocks, without code within them."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchor_of(heading):
    """As GitHub makes it: letters, digits, blanks and hyphens of what is shown."""
    shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")


def anchors_of(path, known={}):
    if path not in known:
        found, counts = set(), {}
        for _, line in lines_of(path.read_text()):
            found.update(EXPLICIT.findall(line))
            heading = HEADING.match(line)
            if not heading:
                continue
            anchor = anchor_of(heading[1])
            count = counts.get(anchor, 0)
            counts[anchor] = count + 1
            found.add(f"{anchor}-{count}" if count else anchor)
        known[path] = found
    return known[path]


def target_of(page, link):
    target = link.partition("#")[0]
    return pathlib.Path(os.path.abspath(page.parent / urllib.parse.unquote(target))) if target else page


def is_elsewhere(link):
    return re.match(r"[a-z]+:", link) is not None


def fault(page, link, root):
    """Why a link leads nowhere, or nothing."""
    path, anchor = target_of(page, link), link.partition("#")[2]
    if not path.exists():
        return "no such file"
    if root not in path.parents and path != root:
        return "lies outside"
    if anchor and path.suffix == ".md" and anchor not in anchors_of(path):
        return "no such heading"
    return None


def links_of(page):
    for number, line in lines_of(page.read_text()):
        # Code is no link, but a link may show code.
        for link in LINK.findall(re.sub(r"`[^`]*`", lambda code: "" if "](" in code[0] else code[0], line)):
            if not is_elsewhere(link):
                yield number, link


def reached_from(start):
    found, open_pages = {start}, [start]
    while open_pages:
        page = open_pages.pop()
        for _, link in links_of(page):
            path = target_of(page, link)
            if path.is_dir() and (path / "README.md").exists():
                path = path / "README.md"
            if path.suffix == ".md" and path.exists() and path not in found:
                found.add(path)
                open_pages.append(path)
    return found


def check(root, pages, readme, docs):
    faults, links = [], 0
    for page in pages:
        for number, link in links_of(page):
            links += 1
            if why := fault(page, link, root):
                faults.append(f"{page.relative_to(root)}:{number}: link '{link}': {why}")
    reached = reached_from(readme)
    for page in pages:
        if docs in page.parents and page not in reached:
            faults.append(f"{page.relative_to(root)}: no links lead here from {readme.relative_to(root)}")
    print("\n".join(faults + [f"{len(pages)} pages, {links} links, {len(faults)} faults"]))
    return 1 if faults or not links else 0


def check_installed(root, prefix):
    pages = prefix / "share/doc/openbuda"
    return check(prefix, sorted(pages.rglob("*.md")), pages / "README.md", pages)


def main():
    installed, arguments = sys.argv[1] == "--installed", [pathlib.Path(os.path.abspath(a)) for a in sys.argv[1:] if a[0] != "-"]
    root = arguments[0]
    if not installed:
        listed = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=root, capture_output=True, text=True, check=True).stdout
        return check(root, [root / name for name in listed.split("\0") if name], root / "README.md", root / "docs")
    if len(arguments) > 1:
        return check_installed(root, arguments[1])
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder)
        (prefix / "share/buda").mkdir(parents=True)
        for folder in [root / "schemas", *(root / "share").iterdir()]:
            (prefix / "share/buda" / folder.name).symlink_to(folder)
        subprocess.run([sys.executable, root / "share/packages/pages.py", root, prefix], check=True)
        return check_installed(root, prefix)


sys.exit(main())
