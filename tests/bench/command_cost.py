# SPDX-License-Identifier: Apache-2.0
"""What a command costs."""
import os
import subprocess


def cost_of(command, runs):
    """Seconds of processor time and peak megabytes: the best of so many runs, since other work on the machine only adds to them."""
    costs = []
    for _ in range(runs):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, command)
        # Linux counts in what this process had when it started the command: 10 to 20 MB.
        costs.append((used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
    return min(seconds for seconds, _ in costs), min(megabytes for _, megabytes in costs)
