#!/usr/bin/env python3
"""Serves the current folder on a free loopback port, with single byte ranges.

Writes the port to the file named by its argument, and ends with its parent's kill.
"""

import functools
import http.server
import os
import re
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def list_directory(self, path):
        self.send_error(404)

    def send_head(self):
        path = self.translate_path(self.path)
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not asked or not os.path.isfile(path):
            return super().send_head()
        size = os.path.getsize(path)
        first, last = int(asked[1]), min(int(asked[2]), size - 1)
        if first > last:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{size}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        self.wfile.flush()
        if self.command == "GET":
            with open(path, "rb") as file:
                file.seek(first)
                self.wfile.write(file.read(last - first + 1))
        return None


def main():
    handler = functools.partial(Handler, directory=os.getcwd())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    with open(sys.argv[1] + ".new", "w", encoding="ascii") as file:
        file.write(str(server.server_address[1]))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()


if __name__ == "__main__":
    main()
