#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A debuginfod server that goes wrong: PORT LOG WAY [FILE].

mute: takes the connection and says nothing. trickle: a byte now and then. huge: says that 10 GB follow.
endless: does not say how many do, and does not end. bomb: little that inflates to much. lie: FILE for
every build. broken: a part of FILE.
"""
import socketserver, sys, time, zlib

port, log, way = int(sys.argv[1]), sys.argv[2], sys.argv[3]
FILE = open(sys.argv[4], "rb").read() if len(sys.argv) > 4 else b""
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n"


class Handler(socketserver.StreamRequestHandler):
    def answer(self):
        w = self.wfile
        if way == "mute":
            time.sleep(600)
        elif way == "trickle":
            w.write(HEAD + b"Content-Length: 100000\r\n\r\n")
            while True:
                w.write(b"x")
                time.sleep(0.2)
        elif way == "huge":
            w.write(HEAD + b"Content-Length: 10000000000\r\n\r\n" + b"x" * 100000)
            time.sleep(600)
        elif way == "endless":
            w.write(HEAD + b"\r\n")
            while True:
                w.write(b"x" * 65536)
        elif way == "bomb":
            packed = zlib.compress(bytes(50 << 20))
            w.write(HEAD + b"Content-Encoding: deflate\r\nContent-Length: %d\r\n\r\n" % len(packed) + packed)
        elif way == "lie":
            w.write(HEAD + b"Content-Length: %d\r\n\r\n" % len(FILE) + FILE)
        elif way == "broken":
            w.write(HEAD + b"Content-Length: %d\r\n\r\n" % len(FILE) + FILE[: len(FILE) // 2])

    def handle(self):
        request = self.rfile.readline().decode()
        while self.rfile.readline().strip():
            pass
        if not request:  # somebody looked whether there is a server
            return
        with open(log, "a") as f:
            f.write(request)
        try:
            self.answer()
        except OSError:
            pass


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


with Server(("127.0.0.1", port), Handler) as server:
    open(log, "w").close()
    server.serve_forever()
