#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check the sizes of functions and classes: a function has at most 80 lines, a class at most 20 methods and 8 containers.

    sizes.py SOURCE_DIR

A comment in or directly above a larger one says why: "long because" of a function, "wide because" of a class. tests/laws/sizes.txt lists what
is larger for the time being; a line of it that is not needed any more is an error, so that the list only shrinks.
"""
import pathlib
import re
import sys

MOST_LINES, MOST_METHODS, MOST_CONTAINERS = 80, 20, 8
CONTAINER = re.compile(r"^(?:mutable |static |const )*std::(?:vector|deque|list|map|multimap|set|multiset|unordered_map|unordered_set|array|queue|stack)<")
# What stands before the brace of a type, and what before that of a namespace.
TYPE = re.compile(r"(?:^|[\s>])(class|struct|union|enum(?: class)?)\s+(?:\[\[[^]]*\]\]\s*)?(\w+)?[^()=]*$", re.S)
NAMESPACE = re.compile(r'(?:^|\s)(?:namespace(?:\s+[\w:]+)?|extern\s+"\s*")\s*$')
FUNCTION_NAME = re.compile(r"((?:\w+::)*(?:~?\w+|operator\s*[^\s(]+|operator\(\)))\s*\(")


def blanked(text):
    """Comments, strings and directives as spaces, line by line as before."""
    space = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r'R"(\w*)\(.*?\)\1"', space, text, flags=re.S)
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", space, text, flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", space, text, flags=re.M)


class Scope:
    def __init__(self, kind, name, line):
        self.kind, self.name, self.line, self.methods, self.containers = kind, name, line, 0, 0


def is_method(statement, owner):
    """Does this declaration in a class declare a function that is neither constructor, destructor nor operator?"""
    head = re.sub(r"<[^<>]*(?:<[^<>]*(?:<[^<>]*>[^<>]*)*>[^<>]*)*>", "<>", statement).split("=")[0]
    match = FUNCTION_NAME.search(head)
    if not match or re.match(r"\s*(?:using|friend|static_assert|typedef)\b", head) or "operator" in head:
        return False
    return match[1].lstrip("~") != owner


def scopes_of(text):
    """Every function and class of a source: (kind, name, first line, last line, methods, containers)."""
    code = blanked(text)
    stack, found, begin, line, first = [Scope("namespace", "", 1)], [], 0, 1, None
    parentheses = 0
    for at, c in enumerate(code):
        if c == "\n":
            line += 1
        elif c in "([":
            parentheses += 1
        elif c in ")]":
            parentheses -= 1
        if first is None and not c.isspace() and c not in "};":
            first = line
        if c not in "{};" or (parentheses and stack[-1].kind != "function" and c == ";"):
            continue
        statement, top = code[begin:at].strip(), stack[-1]
        statement = re.sub(r"^(?:public|private|protected)\s*:\s*", "", statement)
        if c == "{":
            outer = top.kind in ("namespace", "type")
            if outer and NAMESPACE.search(" " + statement):
                scope = Scope("namespace", "", line)
            elif outer and parentheses == 0 and (match := TYPE.search(statement)):
                scope = Scope("enum" if match[1].startswith("enum") else "type", match[2] or "", first or line)
            elif outer and parentheses == 0 and at and code[at - 1].isspace() and "(" in statement and not re.search(r"=\s*$", statement):
                name = FUNCTION_NAME.search(statement)
                scope = Scope("function", name[1] if name else "?", first or line)
                if top.kind == "type" and is_method(statement, top.name):
                    top.methods += 1
            else:
                # An initialiser belongs to the statement around it; a block of a function is a part of it.
                stack.append(Scope("initialiser" if outer else "block", "", line))
                stack[-1].begin, stack[-1].first, stack[-1].parentheses = begin, first, parentheses
                parentheses = 0
                continue
            stack.append(scope)
            scope.parentheses, parentheses = parentheses, 0
        elif c == "}":
            scope = stack.pop()
            parentheses = getattr(scope, "parentheses", 0)
            if scope.kind in ("function", "type"):
                found.append((scope.kind, scope.name, scope.line, line, scope.methods, scope.containers))
            if scope.kind == "initialiser":
                begin, first = scope.begin, scope.first
                continue
        elif top.kind == "type":
            if is_method(statement, top.name):
                top.methods += 1
            elif CONTAINER.match(statement):
                top.containers += 1
        begin, first = at + 1, None
    return found


def reason_given(lines, first, last, word):
    while first > 1 and lines[first - 2].lstrip().startswith(("//", "template")):
        first -= 1
    return any(f"{word} because" in line for line in lines[first - 1:last])


def too_large(root, path):
    """What is over a limit in a file, without a comment that says why: "module name", its line, and what was found."""
    text = (root / path).read_text()
    lines = text.splitlines()
    module = "/".join(path.parts[:3])  # a file may move within it
    for kind, name, first, last, methods, containers in scopes_of(text):
        if kind == "function" and last - first + 1 > MOST_LINES and not reason_given(lines, first, last, "long"):
            yield f"{module} {name}", first, f"{last - first + 1} lines; a function has at most {MOST_LINES}, or a comment 'long because …'"
        if kind == "type" and (methods > MOST_METHODS or containers > MOST_CONTAINERS) and not reason_given(lines, first, last, "wide"):
            yield (f"{module} {name}", first, f"{methods} methods and {containers} containers; a class has at most {MOST_METHODS} and "
                   f"{MOST_CONTAINERS}, or a comment 'wide because …'")


def main():
    root = pathlib.Path(sys.argv[1])
    listed = {line for line in (root / "tests/laws/sizes.txt").read_text().splitlines() if line and not line.startswith("#")}
    found, problems, count = set(), [], 0
    for path in sorted(p.relative_to(root) for d in ("core", "apps", "plugins") for p in (root / d).rglob("*") if p.suffix in (".cpp", ".hpp")):
        count += 1
        for what, line, why in too_large(root, path):
            found.add(what)
            if what not in listed:
                problems.append(f"{path}:{line}: {what.split()[-1]} has {why}")
    problems += [f"tests/laws/sizes.txt: '{what}' is within the limits now: take the line out" for what in sorted(listed - found)]
    print("\n".join(problems))
    print(f"{count} files, {len(problems)} findings, {len(listed)} exceptions")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
