#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs and hosts on target grid: more inputs than a queue has entries, a slow host, training loops, gradient rams, two chips.

    simulated_programs.py BUILD_DIR SOURCE_DIR

Training, gradients and chips are those of netlists beside the repository, as far as they are there: their outputs, computed from the tiles
that arrive, have to be golden's byte for byte. Prints a line for each; ends with 1 when something is wrong.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

AS_GOLDEN = [
    "loader/tests/loop_on_device/netlist_training_loops_shadows_q_reuse_across_progs.yaml",
    "loader/tests/loop_on_device/netlist_training_loops_shadows_q_reuse_within_and_across_progs.yaml",
    "verif/op_tests/netlists/netlist_binary_op_gradient_acc.yaml",
    "verif/op_tests/netlists/netlist_matmul_gradient_acc_op_wh.yaml",
    "loader/tests/net_multichip/netlist_unary_multicore_multichip_chain_4a.yaml",
    "verif/multichip_tests/wh_multichip/eth_datacopy/netlist_multi_channel_eth_datacopy.yaml",
]


def run(runner, netlist, output, *options):
    command = [runner, netlist, "--stimulus", "-o", output, "-q", *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return "" if done.returncode == 0 else f"runner ends with {done.returncode}: {done.stderr.strip()[:300]}"


def through_few_entries(runner, netlist, work, host_gbs):
    """A fault, or nothing. All inputs pass; a host of 1 GB/s limits them."""
    fault = run(runner, netlist, work / "y.npz", "--target", "grid", "--set", f"target.grid.host-gbs={host_gbs}", "--perf", work / "perf")
    if fault:
        return fault
    epoch = json.loads((work / "perf/summary.json").read_text())["epochs"][0]
    if epoch["inputs"] != 4096:
        return f"{epoch['inputs']} inputs instead of 4096"
    limited = epoch["causes"][0]["kind"] == "host"
    if limited != (host_gbs > 0):
        return f"with host-gbs={host_gbs} it is limited by {epoch['causes'][0]['what']}"
    return ""


def as_golden(runner, netlist, work):
    fault = run(runner, netlist, work / "a.npz", "--target", "grid", "--set", "target.grid.values=exact")
    fault = fault or run(runner, netlist, work / "b.npz", "--target", "golden")
    if fault:
        return fault
    return "" if (work / "a.npz").read_bytes() == (work / "b.npz").read_bytes() else "outputs are not golden's"


def main():
    build, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    runner, corpus = build / "bin/runner", source / "../shared/corpus/netlists"
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        few = source / "tests/flow/through_64_entries.yaml"
        results = [(f"{few.name}, host-gbs={gbs}", through_few_entries(runner, few, work, gbs)) for gbs in (0, 1)]
        results += [(name, as_golden(runner, corpus / name, work)) for name in AS_GOLDEN if (corpus / name).exists()]
        for name, fault in results:
            print(f"{name}: {fault or 'as it should be'}")
            wrong += fault != ""
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
