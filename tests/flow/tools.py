# SPDX-License-Identifier: Apache-2.0
"""How the tests in this folder call the tools."""
import subprocess


class Failed(Exception):
    pass


def run(*args):
    """The output of a command that has to succeed."""
    done = subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, args))}: exit {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout
