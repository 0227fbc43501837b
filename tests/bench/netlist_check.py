#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading and judging large netlists: time next to a C YAML parser's in the same run, growth with size, and memory.

    netlist_check.py --build BUILD_DIR

A generated netlist of 900 kB (ops, queues, programs as compilers write them) has to be judged within a tenth of the time that PyYAML's libyaml takes to
parse it, the start of the tool aside, and within 60 MB; four times as much text within five times the time and four times the memory. A netlist that
yaml-cpp has to read, because of one anchor in it, has to be judged within a third of that time. Exit 77 when PyYAML is not there.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

from command_cost import cost_of

# In a process of its own: what libyaml's tree takes would count as memory of every command started after it.
PARSE = """
import sys, time, yaml
text = open(sys.argv[1]).read()
begin = time.process_time()
yaml.load(text, Loader=yaml.CSafeLoader)
print(time.process_time() - begin)
"""


def netlist(graphs):
    """A chain of matmuls and additions, eight ops per graph, with weights in rams and a queue between graphs."""
    queues, ops, executes = [], [], []
    block = "t: 1, mblock: [2, 4], ublock: [2, 2], ublock_order: r"
    address = 0x10000000
    queue = "  q{n}: {{input: {source}, type: queue, entries: 64, grid_size: [1, 1], {block}, df: Float16_b, target_device: 0, loc: dram, dram: [[{channel}, 0x{address:x}]]}}"
    weight = "  w{n}: {{input: HOST, type: ram, entries: 1, grid_size: [1, 1], t: 1, mblock: [4, 4], ublock: [2, 2], ublock_order: r, df: Bfp8_b, target_device: 0, loc: dram, dram: [[{channel}, 0x{address:x}]]}}"
    common = "ublock_order: r, buf_size_mb: 2, out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3, t: 1, mblock: [2, 4], ublock: [2, 2]"
    for g in range(graphs):
        queues.append(queue.format(n=g, source="HOST" if g == 0 else f"add{g - 1}_3", block=block, channel=g % 6, address=address))
        settings = [f"q{g}: {{prologue: false, epilogue: false, zero: false, rd_ptr_local: $l{g % 8}, rd_ptr_global: $g{g % 8}}}"]
        lines = [f"  fwd_{g}:", "    target_device: 0", "    input_count: 32"]
        source = f"q{g}"
        for i in range(4):
            n = 4 * g + i
            queues.append(weight.format(n=n, channel=n % 6, address=address + 0x400000))
            address += 0x10000
            settings.append(f"w{n}: {{prologue: true, epilogue: false, zero: false, rd_ptr_global: $zero, wr_ptr_global: $zero}}")
            lines.append(f"    mm{g}_{i}: {{type: matmul, grid_loc: [{2 * i}, 0], grid_size: [1, 1], inputs: [{source}, w{n}], in_df: [Float16_b, Bfp8_b], {common}, attributes: {{m_k: 4, u_kt: 2}}}}")
            lines.append(f"    add{g}_{i}: {{type: add, grid_loc: [{2 * i}, 1], grid_size: [1, 1], inputs: [mm{g}_{i}, mm{g}_{i}], in_df: [Float16_b, Float16_b], {common}}}")
            source = f"add{g}_{i}"
        ops += lines
        executes.append(f"      - execute: {{graph_name: fwd_{g}, queue_settings: {{{', '.join(settings)}}}}}")
    variables = ", ".join(f"$l{i}, $g{i}" for i in range(8))
    return "\n".join(["devices: {arch: wormhole_b0}", "queues:", *queues, "graphs:", *ops, "programs:", "  - run:", "      - var: {$zero: 0}",
                      f"      - staticvar: [{variables}]", *executes]) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if subprocess.run([sys.executable, "-c", "from yaml import CSafeLoader"], stderr=subprocess.DEVNULL).returncode != 0:
        print("no PyYAML with libyaml")
        return 77
    # Other work on the machine only adds to times, and so does a slow start of programs: the best of three attempts counts.
    for _ in range(3):
        problems = measured(options.build / "bin/netlist")
        if not problems:
            return 0
        print("\n".join(problems))
    return 1


def measured(tool):
    """What is slower or larger than allowed."""
    with tempfile.TemporaryDirectory() as folder:
        one, four, anchored = (pathlib.Path(folder, f"{name}.yaml") for name in ("one", "four", "anchored"))
        graphs = 900_000 // (len(netlist(20)) // 20)
        text = netlist(graphs)
        one.write_text(text)
        four.write_text(netlist(4 * graphs))
        anchored.write_text(text.replace("arch: ", "arch: &arch ", 1))
        start, _ = cost_of([tool, "--version"], 5)
        command = [tool, "check", "-q", "--threads", "1", "--device", "wormhole_b0"]
        small, memory = cost_of([*command, one], 5)
        large, large_memory = cost_of([*command, four], 5)
        irregular, _ = cost_of([*command, anchored], 5)
        reference = float(subprocess.run([sys.executable, "-c", PARSE, one], check=True, capture_output=True).stdout)
    small, large, irregular = (seconds - start for seconds in (small, large, irregular))
    print(f"{len(text) / 1000:.0f} kB judged in {small:.3f} s of CPU and {memory:.0f} MB, beside {start:.3f} s to start; libyaml alone takes "
          f"{reference:.3f} s; four times the text {large:.3f} s and {large_memory:.0f} MB; through yaml-cpp {irregular:.3f} s")
    problems = []
    if small > reference / 10:
        problems.append(f"{small / reference:.2f} of libyaml's time; at most a tenth is allowed")
    if irregular > reference / 3:
        problems.append(f"through yaml-cpp {irregular / reference:.2f} of libyaml's time; at most a third is allowed")
    if large > 5 * small + 0.05:
        problems.append(f"four times the text takes {large / small:.1f} times as long; at most 5 is allowed")
    if memory > 60:
        problems.append(f"{memory:.0f} MB for 900 kB; at most 60 are allowed")
    if large_memory > 4 * memory:
        problems.append(f"four times the text takes {large_memory / memory:.1f} times the memory; at most 4 is allowed")
    return problems


if __name__ == "__main__":
    sys.exit(main())
