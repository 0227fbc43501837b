#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading, adding up and showing the events of a device log: `profiler device`, next to what `wc` and `cat` take for the same file in the same run.

    device_log.py --build BUILD_DIR [--events N]

The processor time, the start of the tool aside, may be eight times that of `wc -w`: where ten million events take `wc -w` 0.6 seconds, they are read in
less than five. They may take a gigabyte. Ends with 1 when they take more.
"""
import argparse
import pathlib
import sys
import tempfile

from command_cost import cost_of

RATIO, MEGABYTES = 8, 1000.0
RISCS = ["NCRISC", "BRISC", "TRISC0", "TRISC1", "TRISC2"]
SIDE = 10  # rows and columns of cores


def write_log(path, events):
    """Executions of 1,000 cycles on all cores, one after the other; how many events there are."""
    each = SIDE * SIDE * len(RISCS) * 4
    with open(path, "w") as file:
        file.write("Chip clock is at 1 GHz\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n")
        for begin in range(0, max(events // each, 1) * 1000, 1000):
            file.write("".join(f"0, {x}, {y}, {risc}, 1, {begin}\n0, {x}, {y}, {risc}, 2, {begin + 10 + x}\n0, {x}, {y}, {risc}, 3, {begin + 900 + y}\n0, {x}, {y}, {risc}, 4, {begin + 1000}\n"
                               for x in range(SIDE) for y in range(SIDE) for risc in RISCS))
    return max(events // each, 1) * each


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--events", type=int, default=10_000_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        log = folder / "profile_log_device.csv"
        events = write_log(log, arguments.events)
        seconds, megabytes = cost_of([arguments.build / "bin/profiler", "device", "-i", log, "-o", folder / "output", "--no-webapp", "-q"], 3)
        start, _ = cost_of([arguments.build / "bin/profiler", "--version"], 3)
        words, _ = cost_of(["wc", "-w", log], 3)
        copied, _ = cost_of(["cat", log], 3)
    print(f"{events} events: {seconds:.2f} s of processor time, of which {start:.2f} s to start, and {megabytes:.0f} MB; wc -w {words:.2f} s "
          f"({(seconds - start) / words:.1f} times as long), cat {copied:.2f} s")
    if seconds - start > RATIO * words or megabytes > MEGABYTES:
        sys.exit(f"more than {RATIO * words:.2f} s or {MEGABYTES:.0f} MB")


if __name__ == "__main__":
    main()
