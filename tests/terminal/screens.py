#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives perf-analyzer and tt-smi in tmux, a terminal, and compares what is on the screen after each key and size with screens.txt.

    screens.py BUILD_DIR [--update]

--update writes screens.txt anew, for people to look at. Versions, times and what depends on the machine are replaced by N and T.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PINNED = pathlib.Path(__file__).with_name("screens.txt")
SECONDS = 20


def op(name, kind, kernel, **more):
    pipe = {"name": "x", "bytes": 4096, "waits": 0.3, "moving": 0.25, "dram": 0.2, "memory": True}
    return {"name": name, "type": kind, "cores": 4, "grid": [2, 2], "t": 1, "mblock_m": 2, "mblock_n": 2, "ublock_r": 1, "ublock_c": 1, "m_k": 4, "u_kt": 1, "kernel": kernel,
            "estimate": 0.9 * kernel, "limiter": kernel, "math": 20, "busy": 0.5, "inputs": [pipe], "output": {"bytes": 2048, "waits": 0.1, "moving": 0}, **more}


def epoch(graph, ops, cycles):
    causes = [{"what": f"kernel of '{ops[0]['name']}'", "kind": "kernel", "op": ops[0]["name"], "cycles": cycles, "share": 1}]
    return {"graph": graph, "executions": 1, "inputs": 4, "total": 4 * cycles, "cycles": 4 * cycles, "period": cycles, "first_input": cycles, "span": cycles, "causes": causes,
            "loads": [], "tiles": 4, "events": 4, "math_utilisation": 0.1, "ops": ops,
            "advice": [f"--set op.{ops[0]['name']}.grid=[4,2] predicts {cycles // 2} cycles per input", "--microbatch 16 predicts 90 cycles per input at best"]}


SUMMARY = {
    "schema": "buda.perf/1", "arch": "wormhole_b0", "clock_hz": 1e9, "cycles": 3000, "inputs": 4, "executed_inputs": 4, "inputs_per_second": 1333333, "latency": 700,
    "epochs": [epoch("fwd_0_0_temporal_epoch_0", [op("slow_matmul", "matmul", 400), op("a_name_that_is_much_longer_than_the_fifty_characters_that_the_screen_shows", "gelu", 100)], 500),
               epoch("fwd_0_1_temporal_epoch_1", [op(f"op_{i}", "add", 250 - 5 * i) for i in range(30)], 250)]}


def activity(part, watts):
    return {"utilisation": [round(part * tenths / 10, 3) for tenths in (5, 2.5, 0, 9.9, 1, 2, 3, 4)], "dram_gbs": 12.5 * part,
            "readings": {"core_volts": 0.8, "aiclk_mhz": 1000, "arcclk_mhz": 540, "axiclk_mhz": 900, "core_amps": 50 * part, "core_watts": watts, "core_celsius": 42.1,
                         "regulator_celsius": 44, "inlet_celsius": 25}}


TELEMETRY = {
    "schema": "buda.telemetry/1", "state": "running", "process": 1, "version": "0.1.0", "target": "grid", "model": "net.yaml", "device": "n300", "arch": "wormhole_b0",
    "clock_hz": 1e9, "executions": 7,
    "chips": [{"id": number, "grid": [2, 4], "dram_channels": 6, "dram_channel_bytes": 2000000000, "dram_channel_gbs": 44.6, "dram_bytes": 1000,
               "limits": {"aiclk_mhz": 1000, "core_amps": 131.5, "core_watts": 105.2, "core_celsius": 75, "regulator_celsius": 90},
               "now": activity(1, 40 + number), "average": activity(0.5, 30 + number)} for number in (0, 1)]}

# Keys as tmux names them, or a size.
PERF_ANALYZER = ["", "h", "x", "n", "Right", "f", (40, 10), "Down", (80, 24), "f", "End", "n", "NPage", "e", "0", "Enter", "p"]
TT_SMI = ["t", "1", "2", "w", "v", "3", "h", "x", "2", (40, 10), "Down", (80, 24)]


def masked(text):
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "T", text)
    return re.sub(r"OpenBuda\)? ?\d+\.\d+(\.\d+)?|\b\d+\.\d+\.\d+\b", "N", text)


class Terminal:
    """A tool on a server of tmux of its own."""

    def __init__(self, folder, command):
        self.tmux = ["tmux", "-S", folder / "socket", "-f", "/dev/null"]
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        environment.pop("TMUX", None)
        subprocess.run([*self.tmux, "new-session", "-d", "-x", "80", "-y", "24", "-c", folder, *command], check=True, env=environment)
        self.call("set-option", "-g", "status", "off")
        self.resize(80, 24)

    def call(self, *arguments):
        done = subprocess.run([*self.tmux, *arguments], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"tmux {arguments}: {done.stderr}")
        return done.stdout

    def resize(self, columns, rows):
        self.call("resize-window", "-x", str(columns), "-y", str(rows))

    def screen(self):
        """Lines without blanks at their ends; of several empty lines their number."""
        text = masked(re.sub(r"[ \t]+$", "", self.call("capture-pane", "-p"), flags=re.M))
        return re.sub(r"\n{3,}", lambda empty: f"\n[{len(empty[0]) - 1} empty lines]\n", text).rstrip("\n") + "\n"

    def settled(self, is_right, still=5):
        """The screen as soon as it is right, or when it has not changed for some seconds."""
        last, since = None, time.time()
        end = since + SECONDS
        while time.time() < end:
            now = self.screen()
            if is_right(now):
                return now
            if now != last:
                last, since = now, time.time()
            elif time.time() - since > still and now.strip():
                return now
            time.sleep(0.02)
        return last

    def do(self, step):
        if isinstance(step, tuple):
            self.resize(*step)
        elif step:
            self.call("send-keys", step)

    def ends(self, key):
        """Whether the tool, and with it the server, ends after a key."""
        self.call("send-keys", key)
        end = time.time() + SECONDS
        while time.time() < end:
            if subprocess.run([*self.tmux, "list-sessions"], capture_output=True).returncode != 0:
                return True
            time.sleep(0.05)
        self.call("kill-server")
        return False


def name_of(step):
    return f"{step[0]}x{step[1]}" if isinstance(step, tuple) else step or "start"


def read_pinned():
    parts = re.split(r"^=== (.+)\n", PINNED.read_text(), flags=re.M) if PINNED.exists() else [""]
    return dict(zip(parts[1::2], parts[2::2]))


def play(tool, command, steps, pinned, folder):
    """The screens, by tool, number and step."""
    terminal, out = Terminal(folder, command), {}
    for number, step in enumerate(steps):
        title = f"{tool} {number}: {name_of(step)}"
        terminal.do(step)
        out[title] = terminal.settled(lambda screen: screen == pinned.get(title))
    if not terminal.ends("q"):
        sys.exit(f"{tool} does not end with q")
    return out


def main():
    build, update = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] == ["--update"]
    pinned = {} if update else read_pinned()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "summary.json").write_text(json.dumps(SUMMARY))
        (folder / "telemetry.json").write_text(json.dumps(TELEMETRY))
        screens = play("perf-analyzer", [build / "bin/perf-analyzer", folder], PERF_ANALYZER, pinned, folder)
        screens |= play("tt-smi", [build / "bin/tt-smi", "-i", "0.05", folder / "telemetry.json"], TT_SMI, pinned, folder)
    if update:
        PINNED.write_text("".join(f"=== {title}\n{screen}" for title, screen in screens.items()))
        return
    wrong = [title for title, screen in screens.items() if screen != pinned.get(title)]
    for title in wrong:
        print(f"=== {title}\n{screens[title]}--- pinned\n{pinned.get(title, 'nothing')}")
    if wrong or set(pinned) != set(screens):
        sys.exit(f"{len(wrong)} of {len(screens)} screens are not as pinned in {PINNED.name}; --update writes them anew")


if __name__ == "__main__":
    main()
