#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tt-smi in a pseudo-terminal beside a simulation that is at work: what it shows follows the run.

    live.py BUILD_DIR
"""
import fcntl
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time

OP = ("grid_size: [1, 1], in_df: [Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3, t: 1, mblock: [2, 2], "
      "ublock: [1, 1], ublock_order: r, buf_size_mb: 2")
QUEUE = "grid_size: [1, 1], t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: r, df: Float16_b, target_device: 0, loc: dram"
# Thousands of executions, of which each computes values: seconds of work.
NETLIST = f"""devices: {{arch: wormhole_b0}}
queues:
  x: {{type: queue, input: HOST, entries: 4, {QUEUE}, dram: [[0, 0x20000000]]}}
  y: {{type: queue, input: slow, entries: 16000, {QUEUE}, dram: [[1, 0x20000000]]}}
graphs:
  g:
    target_device: 0
    input_count: 2
    fast: {{type: nop, grid_loc: [0, 0], inputs: [x], {OP}}}
    slow: {{type: sine, grid_loc: [1, 0], inputs: [fast], {OP}}}
programs:
  - p:
      - param: [$p_loop_count]
      - staticvar: {{$r: 0, $g: 0}}
      - loop: $p_loop_count
      - execute: {{graph_name: g, queue_settings: {{x: {{prologue: false, epilogue: false, zero: false, rd_ptr_local: $r, rd_ptr_global: $g}}}}}}
      - varinst: [$r, incwrap, 2, 4]
      - varinst: [$g, incwrap, 2, 8]
      - endloop:
"""


class Terminal:
    """tt-smi, and what it has written since the screen was drawn anew."""

    def __init__(self, build, folder):
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            os.chdir(folder)
            os.environ["TERM"] = "xterm"
            os.execv(build / "bin/tt-smi", ["tt-smi", "-i", "0.05"])

    def press(self, keys):
        os.write(self.terminal, keys)

    def until(self, what, pattern, seconds=180):
        """Draws the whole screen again and again until the pattern is on it; escape sequences count as blanks."""
        seen, end = b"", time.time() + seconds
        while time.time() < end:
            self.press(b"\x0c")
            wait = time.time() + 0.2
            while time.time() < wait:
                if select.select([self.terminal], [], [], 0.05)[0]:
                    seen += os.read(self.terminal, 65536)
            screen = re.sub(rb"\x1b(\[[0-9;?]*[A-Za-z]|\(.)", b" ", seen[-65536:]).decode(errors="replace")
            if re.search(pattern, screen):
                return
            seen = seen[-20000:]
        sys.exit(f"live: waited for {what}; the screen: {screen[-3000:]}")

    def quit(self):
        self.press(b"q")
        end = time.time() + 20
        while time.time() < end:
            try:
                if not os.read(self.terminal, 65536):
                    break
            except OSError:
                break
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "net.yaml").write_text(NETLIST)
        terminal = Terminal(build, folder)
        terminal.until("no run", "no simulation is running")
        run = [build / "bin/runner", "net.yaml", "--stimulus", "--target", "grid", "--param", "p_loop_count=8000", "--set", "target.grid.values=exact", "-q", "-o", "o.npz",
               "--telemetry", "telemetry.json"]
        simulation = subprocess.Popen(run, cwd=folder)
        terminal.until("a run at work", r"running: ")
        terminal.press(b"2")
        # The two cores of the ops work, the others do not.
        terminal.until("cores at work", r"Cores, row 0 +[1-9*]")
        terminal.press(b"v")
        terminal.until("averages", r"Core Power \(W\) +[0-9.]+ \D*avg +[0-9]")
        if simulation.wait(300) != 0:
            sys.exit("live: the simulation failed")
        terminal.until("the end of the run", r"it has ended")
        if (code := terminal.quit()) != 0:
            sys.exit(f"live: tt-smi ended with {code}")


if __name__ == "__main__":
    main()
