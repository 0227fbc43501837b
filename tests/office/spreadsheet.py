#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the spreadsheet of a dump of tt-smi in LibreOffice, without a screen, and compares every sheet with the CSV file of its chip.

    spreadsheet.py BUILD_DIR
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

COLUMNS = ["Timestamp (s)", "Core Voltage (V)", "AICLK (MHz)", "ARCCLK (MHz)", "AXICLK (MHz)", "Core Current (A)", "Core Power (W)", "Core Temp (°C)",
           "VREG Temp (°C)", "Inlet Temp (°C)", "Outlet Temp 1 (°C)", "Outlet Temp 2 (°C)"]
# Every sheet to a file of its own, in UTF-8, with commas.
EVERY_SHEET = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"


def chip(number, watts):
    readings = {"core_volts": 0.8, "aiclk_mhz": 1000, "arcclk_mhz": 540, "axiclk_mhz": 900, "core_amps": 50, "core_watts": watts, "core_celsius": 42.1,
                "regulator_celsius": 44, "inlet_celsius": 25}
    limits = {"aiclk_mhz": 1000, "core_amps": 131.5, "core_watts": 105.2, "core_celsius": 75, "regulator_celsius": 90}
    return {"id": number, "grid": [1, 2], "dram_channels": 6, "dram_channel_bytes": 2000000000, "dram_channel_gbs": 44.6, "dram_bytes": 1000, "limits": limits,
            "now": {"utilisation": [0.5, 0.25], "dram_gbs": 12.5, "readings": readings}}


def rows_of(path):
    """Numbers as numbers, since LibreOffice writes 0.80 as 0.8."""
    def value(text):
        try:
            return float(text)
        except ValueError:
            return text
    with open(path, encoding="utf-8") as file:
        return [[value(text) for text in row] for row in csv.reader(file)]


def same(ours, theirs):
    """To a microsecond: the spreadsheet has times as they are, the CSV file rounded."""
    near = lambda a, b: abs(a - b) <= 1e-6 if isinstance(a, float) and isinstance(b, float) else a == b
    return len(ours) == len(theirs) and all(len(a) == len(b) and all(map(near, a, b)) for a, b in zip(ours, theirs))


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=550)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stdout}{done.stderr}")


def main():
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "telemetry.json").write_text(json.dumps({
            "schema": "buda.telemetry/1", "state": "ended", "process": 1, "version": "0.1.0", "target": "grid", "model": "net.yaml", "device": "n300",
            "arch": "wormhole_b0", "clock_hz": 1e9, "executions": 7, "chips": [chip(0, 40), chip(1, 55.5)]}))
        run(build / "bin/tt-smi", folder / "telemetry.json", "-d", "-dir", folder / "dump", "-dur", "0.5", "-i", "0.1")
        run("soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to", EVERY_SHEET, "--outdir", folder / "opened",
            folder / "dump/tt-smi-dump.xlsx")
        for number in (0, 1):
            ours = rows_of(folder / f"dump/n300-chip-{number}.csv")
            opened = rows_of(folder / f"opened/tt-smi-dump-n300-chip-{number}.csv")
            if ours[0] != COLUMNS:
                sys.exit(f"chip {number}: columns {ours[0]}")
            if len(ours) < 2 or not same(ours, opened):
                sys.exit(f"chip {number}: LibreOffice reads {opened[:3]}, the CSV file has {ours[:3]}")


if __name__ == "__main__":
    main()
