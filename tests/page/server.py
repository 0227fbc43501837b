# SPDX-License-Identifier: Apache-2.0
"""A server of pages, and requests that a browser would not make."""
import http.client
import pathlib
import re
import select
import socket
import subprocess


class Server:
    def __init__(self, *command):
        self.process = subprocess.Popen([*(str(c) for c in command), "--port", "0"], stderr=subprocess.PIPE)
        line = self.line()
        self.address, port = re.search(r"http://([^/]*):(\d+)/ shows", line).groups()
        self.port = int(port)
        self.page = f"http://{self.address}:{self.port}/"

    def line(self):
        if not select.select([self.process.stderr], [], [], 20)[0]:
            raise AssertionError("the server says nothing")
        return self.process.stderr.readline().decode()

    def stop(self):
        self.process.terminate()
        self.process.stderr.close()
        return self.process.wait(20)

    def ask(self, method, path, headers=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer, text

    def send(self, data):
        """The first line of the answer to raw bytes; None if the server just hangs up."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.recv(200)
        return answer.split(b"\r\n")[0].decode() if answer else None

    def listens_at(self):
        """Addresses of the sockets at the port, as the kernel lists them."""
        wanted = f"{self.port:04X}"
        out = set()
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            for line in pathlib.Path(table).read_text().splitlines()[1:]:
                place, state = line.split()[1], line.split()[3]
                if state == "0A" and place.endswith(":" + wanted):
                    out.add(place.split(":")[0])
        return out
