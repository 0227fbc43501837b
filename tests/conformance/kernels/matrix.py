#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run kernels of random ops on target tensix, and on Tenstorrent's simulator where there is one, and compare every output with golden's bits.

    matrix.py --build BUILD_DIR [--cases N] [--first N] [--cxx gcc --cxx clang] [--library libttsim.so]
    matrix.py --build BUILD_DIR --netlists FOLDER [--most-bytes N] [--every N] [--seconds N]
    matrix.py --build BUILD_DIR --chip --library libttsim.so [--cases N] [--first N] [--netlists FOLDER]

With --netlists those of a folder are run instead, with values that they ask for; those with dropout, whose random numbers are the hardware's, are
counted apart. Cases are numbered, and each is always the same. What golden or kernelc refuses, and what the simulator does not support, is counted by reason. With --chip cases run only there, whole, with tiles carried by movers. Of what both
execute the destination registers are compared, too, as they are when a core has ended.
Three rounds of the kinds of ops in four have formats that the simulator supports, the fourth has all. Every other round has inputs with values at which arithmetic
goes differently: denormal ones, halves of the last digit, the largest ones, minus infinity, groups of zeros. Cases from 100000 on are of integers, those from
200000 on take rows of numbers, those from 300000 on are topk.
"""
import argparse
import array
import collections
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zipfile

import integer_cases
import row_cases
import topk_cases

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import slices  # noqa: E402

NARROW, WIDE = ["Float16", "Bfp8", "Bfp4", "Bfp2"], ["Float32", "Float16_b", "Bfp8_b", "Bfp4_b", "Bfp2_b"]
FUNCTIONS = ["exp", "log", "sqrt", "reciprocal", "sigmoid", "tanh", "gelu", "gelu_derivative", "sine", "cosine", "square", "abs", "lrelu", "power"]
KINDS = ["nop", "add", "subtract", "multiply", "matmul", "matmul", "matmul", "function", "function", "function",
         "maximum", "reduce", "splice", "depthwise", "fused_op", "fused_op"]
OTHER_CASES = {100000: integer_cases, 200000: row_cases, 300000: topk_cases}
REFUSALS = ["KC001", "KC005", "UnimplementedFunctionality", "UnsupportedFunctionality", "late"]
CHIP_REFUSALS = [*REFUSALS, "CP001", "CP002", "MV001", "MV002", "MV003"]
RELUS = ["", "", "relu_en: true, relu_threshold: 0.0, relu_mode: min", "relu_en: true, relu_threshold: 0.3, relu_mode: min", "relu_en: true, relu_threshold: 0.7, relu_mode: max"]


def queue(name, source, fmt, t, grid, mblock, ublock, order, channel):
    buffers = ", ".join(f"[{channel}, {hex(0x10000000 + i * 0x1000000)}]" for i in range(grid[0] * grid[1]))
    return (f"  {name}: {{type: queue, input: {source}, entries: 1, grid_size: [{grid[0]}, {grid[1]}], t: {t}, mblock: [{mblock[0]}, {mblock[1]}], "
            f"ublock: [{ublock[0]}, {ublock[1]}], ublock_order: {order}, df: {fmt}, target_device: 0, loc: dram, dram: [{buffers}]}}\n")


def fused(rnd, shape):
    """A fused op of two inputs, and what its op needs."""
    (rt, ct), sub = shape, "      - {name}: {{type: {type}, inputs: [{inputs}], mblock: [1, 1], ublock: [{rt}, {ct}], output: {output}{more}}}\n"
    def step(name, kind, inputs, output, more=""):
        return sub.format(name=name, type=kind, inputs=", ".join(inputs), rt=rt, ct=ct, output=output, more=more)
    spread = rnd.choice(["", "", ", input_1_tms: [tile_broadcast: r]", ", input_1_tms: [tile_broadcast: c]"])
    text = step("first", rnd.choice(["add", "multiply", "subtract"]), ["input0", "input1"], rnd.choice(["dest", "intermed0"]), spread)
    middle = "dest" if "output: dest" in text else "intermed0"
    text += step("second", rnd.choice(["exp", "nop", "reciprocal", "sqrt"]), [middle], "intermed1", ", pop: [intermed0]" if middle == "intermed0" else "")
    text += step("third", rnd.choice(["add", "multiply", "maximum"]), ["intermed1", rnd.choice(["input0", "input1"])], "output", ", pop: [intermed1]")
    return f"fused_ops:\n  0:\n    inputs: 2\n    intermediates: 2\n    schedules:\n    -\n{text}"


def formats_of(rnd, kind, supported):
    """Formats of inputs, of the destination and of the output."""
    if not supported:
        family = rnd.choice([NARROW, WIDE, WIDE])
        return family, rnd.choice(["Float32", "Float16" if family is NARROW else "Float16_b"]), rnd.choice(NARROW + WIDE)
    if rnd.random() < 0.1:
        return ["Float16"], "Float16", rnd.choice(["Float16", "Float32", "Float16_b"])
    acc = rnd.choice(["Float32", "Float16_b"])
    out = rnd.choice(["Float32", "Float16_b", "Bfp8_b", "Bfp4_b"] + ["Float16"] * (acc == "Float32"))
    return [f for f in WIDE if f != "Bfp2_b" or kind not in ("matmul", "depthwise", "fused_op")], acc, out


def case(number):
    """A netlist of one op, and the tiles of its inputs by name."""
    rnd = random.Random(number)
    kind = KINDS[number % len(KINDS)]
    family, acc, out = formats_of(rnd, kind, number // len(KINDS) % 4 != 3)
    float16 = "Float16" in family
    fidelity, relu, t = rnd.choice(["LoFi", "HiFi2", "HiFi3", "HiFi4"]), rnd.choice(RELUS), rnd.choice([1, 2])
    mblock, ublock, grid = ([rnd.choice([1, 2]) for _ in range(2)] for _ in range(3))
    rt, ct = (grid[i] * mblock[i] * ublock[i] for i in range(2))
    order, attributes, between = "r" if kind in ("matmul", "depthwise") else rnd.choice("rc"), [relu] if relu else [], acc
    shapes = [(t, rt, ct)] * (1 if kind in ("nop", "function") else 2)
    if kind == "function":
        kind = rnd.choice(FUNCTIONS)
        attributes += [f"vector: {rnd.choice(['r', 'c', 'rc', 'rc'])}"] + {"lrelu": ["slope: 0.1"], "power": [f"exp: {rnd.choice([0, 3, 5, -2])}"]}.get(kind, [])
    if kind == "matmul":
        blocks, inner, more = rnd.choice([1, 2, 3]), rnd.choice([1, 2]), rnd.choice(["", "", "l1_acc", "z", "bias", "bias l1_acc"])
        between = acc if family == ["Float16"] else rnd.choice(NARROW[:2] if float16 and acc != "Float32" else WIDE[:3])
        if "l1_acc" in more:
            between = acc if acc == "Float32" else "Float16_b"
        z = 2 if more == "z" else 1
        attributes += [f"m_k: {blocks}, u_kt: {inner}"] + ["l1_acc: true"] * ("l1_acc" in more) + ["accumulate: true, z: 2"] * (z == 2) + ["bias: true"] * ("bias" in more) + ["sfpu_op: gelu"] * (rnd.random() < 0.2)
        shapes = [(z * t, rt, blocks * inner), (z * t, blocks * inner, ct)] + [(t, rt, ct)] * ("bias" in more)
    blocks_of, extra = {}, ""
    if kind == "maximum":
        shapes = [(t, rt, ct)] * 2
    if kind == "reduce":
        dim, z, inner = rnd.choice("rcz"), rnd.choice([1, 2, 3]), rnd.choice([1, 2, 3])
        along = {"r": 0, "c": 1}.get(dim)
        if along is not None:
            mblock[along] = ublock[along] = 1
            rt, ct = (grid[i] * mblock[i] * ublock[i] for i in range(2))
        attributes += [f"dim: {dim}, type: max, " + (f"z: {z}" if dim == "z" else f"m_k: {blocks_of.setdefault('m_k', rnd.choice([1, 2]))}, u_kt: {inner}")]
        inner *= blocks_of.get("m_k", 1)
        shapes = [(t * z, rt, ct) if dim == "z" else (t, rt * inner, ct) if dim == "r" else (t, rt, ct * inner)]
    if kind == "splice":
        shapes = [(t, rt, ct)] * 2
        units = mblock[0] * mblock[1]
        mblock[1] *= 2
        ct *= 2
        attributes += [f"input{i}: [0, {units}, {units}]" for i in range(2)]
        shapes = [(t, rt, ct // 2)] * 2
    if kind == "depthwise":
        grid[1], inner = 1, rnd.choice([1, 2, 4])
        rt, ct = (grid[i] * mblock[i] * ublock[i] for i in range(2))
        attributes += [f"m_k: {inner}, u_kt: 1"]
        shapes = [(t, rt, ct * inner), (t, inner, ct)]
    if kind == "fused_op":
        mblock = [1, 1]
        rt, ct = (grid[i] * ublock[i] for i in range(2))
        shapes, attributes = [(t, rt, ct)] * 2, ["fused_op_id: 0"]
        extra = fused(rnd, ublock)
    names = ["a", "b", "c"][:len(shapes)]
    one_format = kind == "reduce" and "dim: z" in attributes[-1]
    if one_format:
        out = between = rnd.choice(family)
    formats = [out] if one_format else [rnd.choice(family)] * len(names) if kind == "splice" else [rnd.choice(family) for _ in names]
    text = "devices: {arch: wormhole_b0}\nqueues:\n"
    for i, (name, fmt, shape) in enumerate(zip(names, formats, shapes)):
        text += queue(name, "HOST", fmt, shape[0], (1, 1), shape[1:], (1, 1), "r", i)
    # An untilized output goes to one buffer.
    untilize = kind in ("nop", "add", "multiply", "subtract") and out in ("Float32", "Float16", "Float16_b") and order == "r" and rnd.random() < 0.6
    if untilize:
        text += queue("out", "op", out, t, (1, 1), (rt, ct), (1, 1), order, len(names)).replace("type: queue,", "type: queue, layout: flat,")
    else:
        text += queue("out", "op", out, t, grid, mblock, ublock, order, len(names))
    text += (f"graphs:\n  g:\n    target_device: 0\n    input_count: 1\n    op: {{type: {kind}, grid_loc: [0, 0], grid_size: [{grid[0]}, {grid[1]}], inputs: [{', '.join(names)}], "
             f"t: {t}, mblock: [{mblock[0]}, {mblock[1]}], ublock: [{ublock[0]}, {ublock[1]}], ublock_order: {order}, buf_size_mb: 2, in_df: [{', '.join(formats)}], out_df: {out}, {'untilize_output: true, ' if untilize else ''}"
             f"intermed_df: {between}, acc_df: {acc}, math_fidelity: {fidelity}{', attributes: {' + ', '.join(attributes) + '}' if attributes else ''}}}\n")
    setting = "{prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}"
    text += extra + "programs:\n  - main:\n    - execute: {graph_name: g, queue_settings: {" + ", ".join(f"{n}: {setting}" for n in names) + "}}\n"
    return text, dict(zip(names, shapes))


def special_values(rnd, count):
    """Denormal and ordinary numbers, ties, the largest ones, minus infinity, groups of zeros."""
    out = []
    while len(out) < count:
        kind = rnd.random()
        if kind < 0.05:
            out += [0.0] * 16
        elif kind < 0.15:
            out.append(rnd.choice([-1, 1]) * rnd.choice([1e-45, 1e-40, 1.2e-38, 6e-8, 5.9e-5]))
        elif kind < 0.4:
            out.append(rnd.choice([-1, 1]) * (1 + (2 * rnd.randrange(128) + 1) / rnd.choice([4, 16, 128, 256, 2048])))
        elif kind < 0.43:
            out.append(rnd.choice([3.4028234e38, -3.4028234e38, 65504.0, -65504.0, float("-inf")]))
        else:
            out.append(rnd.uniform(-2, 2))
    return array.array("f", out[:count])


def write_values(path, rnd, shapes, values_of=None):
    with zipfile.ZipFile(path, "w") as archive:
        for name, (t, rows, cols) in shapes.items():
            count = t * rows * cols * 1024
            values = array.array("f", values_of(name, count)) if values_of else special_values(rnd, count)
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({t}, {32 * rows}, {32 * cols}), }}"
            header += " " * (-(len(header) + 11) % 64) + "\n"
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + values.tobytes())


def run(build, folder, number, target, options, netlist=None, seconds=300):
    """The bytes of the outputs, or what was said instead."""
    product = folder / f"{target}.npz"
    (folder / f"{target}.dest").unlink(missing_ok=True)
    product.unlink(missing_ok=True)
    command = [build / "bin/runner", netlist or folder / "net.yaml", "--bare", "--stimulus", "--seed", str(number + 1), "--target", target, "-o", product, "-q"]
    values = folder / "values.npz"
    if netlist is None and values.exists():
        command += ["--inputs", values]
    for option in options:
        command += ["--set", f"target.{target}.{option}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, "ERROR: late"
    return (product.read_bytes(), "") if done.returncode == 0 else (None, done.stderr)


def same_registers(ours, vendors):
    """Whether the destination registers of all cores are the same: 1024 rows of 32 bytes. The second half of numbers of 32 bits, 8 rows behind the first, is 0
    where the simulator does not show it."""
    if len(ours) != len(vendors):
        return False
    rows = [(i // 32, ours[i:i + 32], vendors[i:i + 32]) for i in range(0, len(ours), 32)]
    return all(one == other or row % 16 >= 8 and not any(other) for row, one, other in rows)


def reason(said):
    """One word or two for a refusal."""
    found = re.search(r"ERROR: (\w+)", said) or re.search(r"\[([A-Z]{2}\d{3})\]", said)
    return found[1] if found else "?"


def netlists(folder, most_bytes, every):
    """Those of a folder for wormhole_b0 that are not large."""
    files = sorted(f for f in folder.rglob("*.yaml") if f.stat().st_size <= most_bytes and "error_tests" not in f.parts)
    return slices.of_turn([f for f in files if "wormhole" in f.read_text(errors="replace").lower()][::every])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--library")
    parser.add_argument("--cxx", action="append", default=[], choices=["gcc", "clang"], help="a compiler; may be repeated")
    parser.add_argument("--streams", action="store_true", help="also through the stream programs of the epoch")
    parser.add_argument("--chip", action="store_true", help="only whole on the library's chip, with tiles moved by movers")
    parser.add_argument("--netlists", type=pathlib.Path)
    parser.add_argument("--most-bytes", type=int, default=1 << 30)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=300)
    args = parser.parse_args()
    if args.chip and not args.library:
        print("skipped: --chip is for ttsim, whose library --library names")
        sys.exit(77)
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        cache = f"cache={folder / 'store'}"
        cases = range(args.first, args.first + args.cases) if args.netlists is None else netlists(args.netlists, args.most_bytes, args.every)
        if not cases:
            sys.exit(77)
        for number in cases:
            netlist = number if args.netlists else None
            if netlist is None:
                rnd, values_of = random.Random(number), None
                others = next((module for first, module in reversed(OTHER_CASES.items()) if number >= first), None)
                if others is None:
                    text, shapes = case(number)
                else:
                    text, shapes, formats = others.random_case(rnd, others.KINDS[number % len(others.KINDS)], queue)
                    values_of = lambda name, count: others.random_values(rnd, count, formats[name])
                (folder / "net.yaml").write_text(text)
                (folder / "values.npz").unlink(missing_ok=True)
                if values_of or number // len(KINDS) % 2 == 1:
                    write_values(folder / "values.npz", random.Random(number), shapes, values_of)
            seed = 0 if netlist else number
            expected, said = run(args.build, folder, seed, "golden", ["mode=bits"], netlist, args.seconds)
            if expected is None:
                counts[f"golden refuses: {reason(said)}"] += 1
                continue
            if netlist and "type: dropout" in netlist.read_text(errors="replace"):
                counts["with random numbers"] += 1
                continue
            targets = [(f"tensix, {cxx}", "tensix", [cache, f"cxx={cxx}"]) for cxx in args.cxx] or [("tensix", "tensix", [cache])]
            targets += [("tensix, streams", "tensix", [cache, "streams=true"])] if args.streams else []
            if args.library:  # the kernels of the first run
                targets.append(("ttsim", "ttsim", targets[0][2] + [f"library={args.library}", f"dest={folder / 'ttsim.dest'}"]))
                targets[0][2].append(f"dest={folder / 'tensix.dest'}")
            if args.chip:
                targets = [("ttsim, whole", "ttsim", [cache, f"library={args.library}", "chip=true"])]
            registers = []  # of the first run on tensix, and on ttsim
            for name, target, options in targets:
                made, said = run(args.build, folder, seed, target, options, netlist, args.seconds)
                refused = made is None and reason(said) in (CHIP_REFUSALS if args.chip else REFUSALS)
                counts[f"{name} refuses: {reason(said)}" if refused else f"{name}: {'the same bits' if made == expected else 'other bits or none'}"] += 1
                if not refused and made != expected:
                    wrong.append(f"case {number} on {name}: {said or 'other bits'}")
                if made and any(option.startswith("dest=") for option in options):
                    registers.append((folder / f"{target}.dest").read_bytes())
            if len(registers) == 2:
                same = same_registers(*registers)
                counts[f"destination registers on ttsim: {'the same bits' if same else 'other bits'}"] += 1
                if not same:
                    wrong.append(f"case {number}: other bits in destination registers")
    for what, count in sorted(counts.items()):
        print(f"{count:5} {what}")
    print("\n".join(wrong))
    sys.exit(1 if wrong or not any(name.startswith("ttsim" if args.chip else "tensix") and name.endswith("the same bits") for name in counts) else 0)


if __name__ == "__main__":
    main()
