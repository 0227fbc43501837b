#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers of pages under attack: they go on to answer, and show nothing from outside of their folder.

    servers.py --build BUILD_DIR --model MODEL.onnx --inputs INPUTS.npz [--requests N] [--connections N]

reportify serve and profiler device have N connections that say nothing, N that say a byte at a time and N that read nothing, N malformed
requests, foreign Host lines, and folders with links that lead out and FIFOs.
"""
import argparse
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "page"))
from server import Server

SECRET = "a secret that lies outside of the folder"
WITHIN = 3  # seconds


class Attack:
    def __init__(self, name, server):
        self.name, self.server, self.problems = name, server, []
        self.connections, self.ends = [], threading.Event()

    def answers(self, after):
        """Whether and how fast a well-behaved browser is answered."""
        begin = time.monotonic()
        try:
            status = self.server.ask("GET", "/")[0].status
        except OSError as e:
            status = e
        seconds = time.monotonic() - begin
        if status != 200 or seconds > WITHIN:
            self.problems.append(f"{self.name}: after {after}: {status} in {seconds:.1f} s")

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=20)
        self.connections.append(connection)
        return connection

    def silent(self, count):
        for _ in range(count):
            self.connect()
        self.answers(f"{count} silent connections")

    def slow(self, count):
        victims = [self.connect() for _ in range(count)]

        def drip():
            text = b"GET / HTTP/1.1\r\nHost: " + b"x" * 4000
            for byte in range(len(text)):
                for victim in victims:
                    try:
                        victim.send(text[byte:byte + 1])
                    except OSError:
                        pass
                if self.ends.wait(1):
                    return
        self.dripping = threading.Thread(target=drip)
        self.dripping.start()
        time.sleep(2)
        self.answers(f"{count} slow connections")

    def deaf(self, count):
        for _ in range(count):
            connection = self.connect()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            for _ in range(20):
                connection.send(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{self.server.port}\r\n\r\n".encode())
        self.answers(f"{count} connections that read nothing")

    def malformed(self, count):
        rng = random.Random(46)
        parts = [b"GET", b"POST", b" ", b"/", b"/..%2f..", b"\0", b"\r\n", b"\n", b"HTTP/1.1", b"HTTP/9.9", b"Host:", b"127.0.0.1", b"Content-Length: -1", b"Content-Length: 99999999999999999999",
                 b"Transfer-Encoding: chunked", b"\xff\xfe", b"A" * 9000, b"%00", b"Range: bytes=0-0,1-1", b"Expect: 100-continue", b":", b"Upgrade: h2c", b"?" * 50]
        for i in range(count):
            data = b"".join(rng.choice(parts) for _ in range(rng.randrange(1, 12)))
            try:
                with socket.create_connection(("127.0.0.1", self.server.port), timeout=5) as connection:
                    connection.sendall(data)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # away at once
            except OSError:
                pass
            if i % 10000 == 9999:
                self.answers(f"{i + 1} malformed requests")
        self.answers(f"{count} malformed requests")

    def first_line(self, hosts):
        """Of the answer to a request with these Host lines."""
        lines = "".join(f"Host: {host}\r\n" for host in hosts)
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as connection:
            connection.sendall(f"GET / HTTP/1.1\r\n{lines}Connection: close\r\n\r\n".encode())
            return connection.recv(200).split(b"\r\n")[0].decode()

    def foreign_hosts(self):
        port = self.server.port
        for hosts in ([f"127.0.0.1:{port}, other"], [f"127.0.0.1:{port}", "other"], ["other", f"127.0.0.1:{port}"], [f"127.0.0.1:{port}", f"127.0.0.1:{port}"], [], [""], ["other"],
                      ["127.0.0.1.other"], [f"127.0.0.1:{port + 1}"], ["127.0.0.1:"], [f"127.0.0.1:{port}x"], [f"other@127.0.0.1:{port}"], ["localhost:0"]):
            answer = self.first_line(hosts)
            if " 403 " not in answer:
                self.problems.append(f"{self.name}: Host lines {hosts}: {answer}")
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost"):
            answer = self.first_line([host])
            if " 200 " not in answer:
                self.problems.append(f"{self.name}: Host {host}: {answer}")

    def end(self):
        self.ends.set()
        if hasattr(self, "dripping"):
            self.dripping.join()
        for connection in self.connections:
            connection.close()
        if self.server.process.poll() is not None:
            self.problems.append(f"{self.name}: has ended with {self.server.process.returncode}")
        elif (code := self.server.stop()) != 0:
            self.problems.append(f"{self.name}: ends with {code}")


def attack(name, command, requests, connections):
    trial = Attack(name, Server(*command))
    # Their warnings must not fill the pipe.
    threading.Thread(target=lambda: [None for _ in trial.server.process.stderr], daemon=True).start()
    try:
        for step in (trial.foreign_hosts, lambda: trial.silent(connections), lambda: trial.slow(connections), lambda: trial.deaf(connections), lambda: trial.malformed(requests)):
            begin = time.monotonic()
            step()
            print(f"{time.monotonic() - begin:.1f} s", flush=True)
    finally:
        trial.end()
    return trial.problems


def traps(build, folder, reports):
    """Links and FIFOs among the files of a report: each is refused, and the other files are shown."""
    outside = folder / "outside"
    shutil.copytree(reports, outside)
    for path in outside.rglob("*.json"):
        path.write_text(path.read_text().replace("digits", SECRET.replace(" ", "-")))
    problems = []
    inside = reports / "m"
    files = [p for p in (*inside.glob("*.json"), *inside.glob("*.yaml"), *inside.glob("perf/*"), *inside.glob("passes/*")) if p.is_file()]
    server = Server(build / "bin/reportify", "serve", reports)
    threading.Thread(target=lambda: [None for _ in server.process.stderr], daemon=True).start()
    pages = ["/data/modules.js", "/data/0/run.js", "/data/0/placement.js", "/data/0/pass-0.js", "/data/0/pass-1.js"]
    for path in files:
        content = path.read_bytes()
        for trap in ("link", "fifo"):
            path.unlink()
            if trap == "link":
                path.symlink_to(outside / path.relative_to(reports))
            else:
                os.mkfifo(path)
            for page in pages:
                try:
                    begin = time.monotonic()
                    answer, text = server.ask("GET", page)
                    if SECRET.replace(" ", "-") in text.decode(errors="replace"):
                        problems.append(f"reportify serve: {path.name} as a {trap}: {page} shows what lies outside")
                    if time.monotonic() - begin > 10:
                        problems.append(f"reportify serve: {path.name} as a {trap}: {page} takes {time.monotonic() - begin:.0f} s")
                except OSError as e:
                    problems.append(f"reportify serve: {path.name} as a {trap}: {page}: {e}")
            path.unlink()
            path.write_bytes(content)
    if server.stop() != 0:
        problems.append("reportify serve: did not end well")
    for command in (["profiler", "device", "-i", inside / "perf"], ["profiler", "ops", "-i", inside / "perf"]):
        for trap in ("link", "fifo"):
            path = inside / "perf" / ("profile_log_device.csv" if command[1] == "device" else "more.csv")
            content = path.read_bytes() if path.exists() else None
            path.unlink(missing_ok=True)
            if trap == "link":
                (outside / "m/perf/more.csv").write_text(SECRET)
                path.symlink_to(outside / "m/perf" / path.name)
            else:
                os.mkfifo(path)
            try:
                done = subprocess.run([build / "bin" / command[0], *command[1:], "-o", folder / "profile"], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
                if done.returncode != 1 or "IO013" not in done.stderr:
                    problems.append(f"{command[:2]}: {path.name} as a {trap}: {done.returncode} {done.stderr[:300]}")
            except subprocess.TimeoutExpired:
                problems.append(f"{command[:2]}: {path.name} as a {trap}: hangs")
            path.unlink()
            if content is not None:
                path.write_bytes(content)
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--model", required=True, type=pathlib.Path)
    parser.add_argument("--inputs", required=True, type=pathlib.Path)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--connections", type=int, default=200)
    options = parser.parse_args()
    build = options.build.resolve()
    environment = {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory(prefix="buda-servers-") as work:
        folder = pathlib.Path(work)
        reports = folder / "reports"
        (reports / "m").mkdir(parents=True)
        for command in (["buda", "compile", options.model.resolve(), "-q", "-o", folder / "m.tti", "--build-dir", reports / "m", "--dump-dir", reports / "m/passes"],
                        ["buda", "run", folder / "m.tti", "--inputs", options.inputs.resolve(), "--target", "grid", "--perf", reports / "m/perf", "-o", folder / "out.npz", "-q"]):
            subprocess.run(command, env=environment, check=True)
        problems = attack("reportify serve", [build / "bin/reportify", "serve", reports], options.requests, options.connections)
        problems += attack("profiler device", [build / "bin/profiler", "device", "-i", reports / "m/perf", "-o", folder / "profile", "--no-print-stats"], options.requests, options.connections)
        problems += traps(build, folder, reports)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
