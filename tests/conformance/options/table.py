# SPDX-License-Identifier: Apache-2.0
"""The table of docs/options.md, and what the tools say of their options."""
import dataclasses
import json
import re
import subprocess

TOOLS = ("importer", "optimizer", "balancer", "netlist2pipe", "pipegen", "tti-pack", "runner")

FAMILY_KEY = r"(?:op|queue)\.NAME\.[\w-]+"


@dataclasses.dataclass
class Row:
    line: int
    names: list  # of the PyBuda documents
    stage: str
    here: str
    test: str

    def is_option(self):
        """Whether the page claims that a tool has an option of this name."""
        return self.stage in TOOLS and "not there yet" not in self.here and not self.family_keys() and bool(self.test)

    def is_absent(self):
        """Whether nothing has an option of this name, not even for a single op."""
        return not self.test and not self.family_keys()

    def family_keys(self):
        """What stands for the option where it is one of a single op or queue: ["op.NAME.grid"]."""
        return re.findall(FAMILY_KEY, self.here)


def rows(page):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 4:
            yield Row(number, re.findall(r"`([^`]+)`", cells[0]), *cells[1:])


def options_of(tool, build):
    return json.loads(subprocess.run([build / "bin" / tool, "--list-options", "-"], check=True, capture_output=True).stdout)


def spellings(option):
    """What the tool understands in a config file as this option."""
    return [option["name"], option["name"].replace("-", "_"), *option.get("known_as", [])]


def family_keys_of(tool, build):
    """Keys like op.NAME.grid and queue.NAME.dram, which --help lists."""
    shown = subprocess.run([build / "bin" / tool, "--help"], check=True, capture_output=True, text=True).stdout
    return set(re.findall(FAMILY_KEY + "(?==)", shown)) - {"op.NAME.KEY"}
