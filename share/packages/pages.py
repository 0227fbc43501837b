#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts the pages into an installation: pages.py SOURCES PREFIX

The README, docs and the page of plugins come to share/doc/openbuda. Links to files that an installation has elsewhere lead there; those to
files that only the sources have become the names of these files.
"""
import os
import re
import shutil
import sys

sources, prefix = (os.path.abspath(path) for path in sys.argv[1:3])
# From the sources to the installation: the longest that matches.
PLACES = {
    "README.md": "share/doc/openbuda/README.md",
    "plugins/README.md": "share/doc/openbuda/plugins/README.md",
    "docs": "share/doc/openbuda",
    "schemas": "share/buda/schemas",
    **{f"share/{folder}": f"share/buda/{folder}" for folder in ("devices", "clusters", "kernels", "pipelines", "templates", "make", "examples")},
}
LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*)\]\(([^()\s]+(?:\([^()]*\))?)\)")


def place_of(path):
    """Of a file of the sources in the installation, or None."""
    for source in sorted(PLACES, key=len, reverse=True):
        if path == source or path.startswith(source + "/"):
            return os.path.join(prefix, PLACES[source] + path[len(source):])
    return None


def moved(text, source, target):
    """The text of a page of the sources with links as seen from its place in the installation."""

    def of_link(match):
        mark, shown, link = match.groups()
        name, hash_mark, anchor = link.partition("#")
        if not name or re.match(r"[a-z]+:", name):
            return match[0]
        path = os.path.relpath(os.path.normpath(os.path.join(sources, os.path.dirname(source), name)), sources)
        place = place_of(path)
        if place is None:
            return f"{shown} (`{path}` of the sources)" if shown.strip("`") != path else shown
        return f"{mark}[{shown}]({os.path.relpath(place, os.path.dirname(target))}{hash_mark}{anchor})"

    return LINK.sub(of_link, text)


def install(source):
    target = place_of(source)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    path = os.path.join(sources, source)
    if not source.endswith(".md"):
        shutil.copyfile(path, target)
        return
    with open(path, encoding="utf-8") as page, open(target, "w", encoding="utf-8") as out:
        out.write(moved(page.read(), source, target))


for source in ("README.md", "plugins/README.md"):
    install(source)
for folder, _, names in os.walk(os.path.join(sources, "docs")):
    for name in names:
        install(os.path.relpath(os.path.join(folder, name), sources))
