#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw the pictures of docs/internals/reblocking.md from the pipes of the netlists beside this file.

    draw.py --bin BUILD/bin [--check]

Each picture shows the tensor of a producer, once with the index that each tile has in its core's buffer, and once for each receiver of the pipes with
the number at which the tile arrives there. Tiles are placed by the layout rule of the page, arrival numbers are read off the pipegen file that
netlist2pipe makes (and proves, --check). With --check of this script nothing is written; it fails when a picture is not what would be drawn.
"""
import argparse
import html
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PICTURES = [  # file, producer, op, input
    ("order", "x", "op", 0),
    ("matmul-left", "x", "mm", 0),
    ("matmul-right", "w", "mm", 1),
    ("slice", "x", "op", 0),
    ("phased", "source", "op", 0),
    ("padding", "source", "op", 0),
]
COLOURS = ["#cfe3f7", "#f9dcc4", "#d5ecd0", "#ecd4ee"]
CELL, GAP, LINE = 30, 26, 18


def numbers(text, key):
    found = re.search(rf"\b{key}: (\[[^\]]*\]|\w+)", text)
    if not found:
        return None
    values = re.findall(r"\w+", found.group(1))
    return [int(v) for v in values] if values[0].isdigit() else values[0]


def producer_of(netlist, name):
    """Grid, t, mblock, ublock and order of a queue or an op."""
    body = re.search(rf"^ +{name}: \{{(.*?)\}}$", netlist, re.M | re.S).group(1)
    return {key: numbers(body, key) for key in ("grid_size", "t", "mblock", "ublock", "ublock_order")}


def layout(p):
    """From (core, index) to (t, row, column): ublock after ublock in the order of the scan, each row by row."""
    (grid_r, grid_c), (m, n), (rt, ct) = p["grid_size"], p["mblock"], p["ublock"]
    out = {}
    for core in range(grid_r * grid_c):
        top, left, index = core // grid_c * m * rt, core % grid_c * n * ct, 0
        for t in range(p["t"][0]):
            ublocks = [(i, j) for i in range(m) for j in range(n)]
            if p["ublock_order"] == "c":
                ublocks = [(i, j) for j in range(n) for i in range(m)]
            for i, j in ublocks:
                for r in range(rt):
                    for c in range(ct):
                        out[core, index] = (t, top + i * rt + r, left + j * ct + c)
                        index += 1
    return out


def documents(text):
    """The buffers and pipes of a pipegen file: lines `key: value`."""
    for document in text.split("---\n"):
        lines = [line.strip() for line in document.splitlines() if ": " in line]
        yield {k: v for k, v in (line.split(": ", 1) for line in lines)}


def ids(text):
    groups = re.findall(r"\[([\d, ]+)\]", text)
    return [[int(i) for i in g.split(",")] for g in groups]


class Pipes:
    """The pipes into one input of an op, and what they bring in one input of the graph."""

    def __init__(self, text, producer, op, number, p):
        self.buffers, pipes = {}, []
        for d in documents(text):
            if "uniqid" in d:
                self.buffers[int(d["uniqid"])] = d
            elif "input_list" in d:
                pipes.append(d)
        owners = sorted(i for i, b in self.buffers.items() if b["md_op_name"] == producer and b["buffer_type"] in ("dram_io", "packer"))
        self.core = {base: k for k, base in enumerate(owners)}
        tiles = p["t"][0] * p["mblock"][0] * p["mblock"][1] * p["ublock"][0] * p["ublock"][1]
        self.pipes = []
        self.arrivals = {}  # by receiver: (core, index), or None for padding
        for pipe in pipes:
            groups = ids(pipe["output_list"])
            first = self.buffers[groups[0][0]]
            if first["md_op_name"] != op or first["buffer_type"] != "unpacker" or int(first["id"]) != number:
                continue
            padding = ids(pipe.get("output_padding_list", ""))
            padding = padding[0] if padding else [0] * len(groups)
            blocks = [self.block(i) for i in ids(pipe["input_list"])[0]]
            window = self.window(self.buffers[owners[0]])
            turns, passes = [], tiles // window
            w = g = 0
            while w < passes or (turns and g % len(groups) and padding[g % len(groups)]):
                k = g % len(groups)
                receivers = tuple(self.place(i) for i in groups[k])
                taken = [] if padding[k] else [(c, w * window + i) for c, start, count in blocks for i in range(start, start + count)]
                self.arrivals.setdefault(receivers, []).extend(taken or [None] * sum(b[2] for b in blocks))
                turns.append((receivers, bool(padding[k])))
                w, g = w + (not padding[k]), g + 1
            self.pipes.append((blocks, turns))

    @staticmethod
    def window(b):
        block = int(b["scatter_gather_num_tiles"])
        return block * int(b["replicate"]) if b["is_scatter"] == "1" else block

    def block(self, i):
        base = i - i % 10**9
        return self.core[base], i - base, int(self.buffers[base]["scatter_gather_num_tiles"])

    def place(self, i):
        return tuple(int(v) for v in re.findall(r"\d+", self.buffers[i]["core_coordinates"]))


def runs(blocks):
    out = []
    for core, start, count in blocks:
        if out and out[-1][0] == core and out[-1][2] == start:
            out[-1][2] = start + count
        else:
            out.append([core, start, start + count])
    return out


class Svg:
    def __init__(self):
        self.parts, self.width, self.height = [], 0, 0

    def grow(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def cell(self, x, y, w, fill, label):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{CELL}" fill="{fill}" stroke="#888"/>')
        if label != "":
            self.parts.append(f'<text x="{x + w / 2:g}" y="{y + 20}" text-anchor="middle">{html.escape(str(label))}</text>')
        self.grow(x + w, y + CELL)

    def text(self, x, y, label, weight="normal"):
        self.parts.append(f'<text x="{x}" y="{y}" font-weight="{weight}">{html.escape(label)}</text>')
        self.grow(x + 7.2 * len(label), y + 6)

    def frame(self, x, y, w, h):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="none" stroke="#222" stroke-width="2"/>')

    def done(self):
        w, h = int(self.width + 12), int(self.height + 12)
        head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" font-family="monospace" font-size="12">\n'
        return head + f'<rect width="{w}" height="{h}" fill="white"/>\n' + "\n".join(self.parts) + "\n</svg>\n"


def plane(svg, x, y, p, places, t, labels):
    """One t of the producer's tensor; `labels`: text of each (core, index), tiles without one are grey."""
    (grid_r, grid_c), (m, n), (rt, ct) = p["grid_size"], p["mblock"], p["ublock"]
    for (core, index), (tile_t, r, c) in places.items():
        if tile_t == t:
            label = labels.get((core, index), "")
            svg.cell(x + c * CELL, y + r * CELL, CELL, COLOURS[core % len(COLOURS)] if label != "" else "#f2f2f2", label)
    for r in range(grid_r):
        for c in range(grid_c):
            svg.frame(x + c * n * ct * CELL, y + r * m * rt * CELL, n * ct * CELL, m * rt * CELL)
    return grid_c * n * ct * CELL, grid_r * m * rt * CELL


def tensor(svg, x, y, title, p, places, labels):
    svg.text(x, y, title, "bold")
    ts, width, height = p["t"][0], 0, 0
    for t in range(ts):
        if ts > 1:
            svg.text(x + width, y + LINE, f"t {t}")
        w, height = plane(svg, x + width, y + LINE + (8 if ts > 1 else -8), p, places, t, labels)
        width += w + 10
    return max(width, 7.2 * len(title)), height + LINE + (8 if ts > 1 else 0)


def name_of(receivers):
    if len(receivers) == 1:
        return f"core {list(receivers[0])}"
    return f"cores {list(receivers[0])} to {list(receivers[-1])}"


def draw(text, netlist, producer, op, number):
    p = producer_of(netlist, producer)
    places = layout(p)
    pipes = Pipes(text, producer, op, number, p)
    svg, x, y = Svg(), 12, 22
    width, height = tensor(svg, x, y, f"'{producer}': index of each tile in its buffer", p, places, {k: k[1] for k in places})
    lowest = y + height
    for i, (receivers, arrived) in enumerate(sorted(pipes.arrivals.items())):
        if i % 2 == 0:
            x, y = 12, lowest + GAP
        labels = {}
        for when, tile in enumerate(arrived):
            if tile is not None:
                labels[tile] = f"{labels[tile]},{when}" if tile in labels else when
        padding = sum(tile is None for tile in arrived)
        title = f"{name_of(receivers)}: when each arrives" + (f", then {padding} of padding" if padding else "")
        width, height = tensor(svg, x, y, title, p, places, labels)
        x, lowest = x + width + GAP, max(lowest, y + height)
    y = lowest + GAP
    for blocks, turns in pipes.pipes:
        svg.text(12, y, "pipe", "bold")
        x = 60
        for core, start, end in runs(blocks):
            label = f"{core}: {start}" + (f"…{end - 1}" if end - 1 > start else "")
            w = int(7.4 * len(label)) + 14
            svg.cell(x, y - 20, w, COLOURS[core % len(COLOURS)], label)
            x += w
        shown = [name_of(r) + (" padding" if padded else "") for r, padded in turns]
        svg.text(x + 10, y, "→ " + ", then ".join(shown if len(set(turns)) > 1 else shown[:1]))
        y += CELL + 8
    return svg.done()


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--bin", required=True, type=pathlib.Path)
    args.add_argument("--check", action="store_true")
    options = args.parse_args()
    stale = []
    for picture, producer, op, number in PICTURES:
        source = HERE / f"{picture.split('-')[0]}.yaml"
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([options.bin / "netlist2pipe", source, "-o", folder, "--check"], check=True)
            text = (pathlib.Path(folder) / "temporal_epoch_0/overlay/pipegen.yaml").read_text()
        svg = draw(text, source.read_text(), producer, op, number)
        target = HERE / f"{picture}.svg"
        if options.check:
            if not target.exists() or target.read_text() != svg:
                stale.append(target.name)
        else:
            target.write_text(svg)
    if stale:
        sys.exit(f"{', '.join(stale)}: not what the pipes are now; draw anew: {HERE.name}/draw.py --bin BUILD/bin")


if __name__ == "__main__":
    main()
