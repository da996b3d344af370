"""A file server on a free loopback port, with ranges and entity tags, that counts requests.

As a program it serves a folder until standard input ends:

    python range_server.py FOLDER    prints its address as the first line
"""

import dataclasses
import http.server
import os
import pathlib
import re
import sys
import threading


@dataclasses.dataclass(frozen=True)
class Request:
    method: str
    path: str
    range: tuple[int, int] | None  # first and last byte


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16

    def do_GET(self):
        self._answer(with_body=True)

    def do_HEAD(self):
        self._answer(with_body=False)

    def _answer(self, with_body):
        field = self.headers.get("Range", "")
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", field)
        wanted = wanted and tuple(map(int, wanted.groups()))
        suffix = re.fullmatch(r"bytes=-(\d+)", field)
        if suffix:
            wanted = (-int(suffix[1]), -1)
        self.server.log.append(Request(self.command, self.path, wanted))
        if self.server.is_slow is not None and self.server.is_slow(self.path):
            return self._answer_slowly(with_body)
        path = self.server.folder / self.path.lstrip("/")
        headers = []
        for suffix, encoding in self.server.encodings.items():
            if path.with_name(path.name + suffix).is_file():
                path = path.with_name(path.name + suffix)
                headers.append(("Content-Encoding", encoding))
                break
        if ".." in path.parts or not path.is_file():
            return self._send(404, [], b"", with_body)
        # The same open file gives the bytes and the tag, even if the name is given to another.
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            tag = f'"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"'
            headers.append(("ETag", tag))
            headers.append(("Accept-Ranges", "bytes"))
            if wanted is None:
                return self._send(200, headers, file.read(), with_body)
            first, last = wanted[0], min(wanted[1], status.st_size - 1)
            if first < 0:
                first, last = max(0, status.st_size + first), status.st_size - 1
            if first > last:
                headers.append(("Content-Range", f"bytes */{status.st_size}"))
                return self._send(416, headers, b"", with_body)
            file.seek(first)
            headers.append(("Content-Range", f"bytes {first}-{last}/{status.st_size}"))
            self._send(206, headers, file.read(last - first + 1), with_body)

    def _answer_slowly(self, with_body):
        """Nothing, or a byte per second, until the server closes."""
        self.server.slow_requests.release()
        if self.server.trickles and with_body:
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            while not self.server.closing.wait(1):
                try:
                    self.wfile.write(b" ")
                    self.wfile.flush()
                except OSError:
                    break
        else:
            self.server.closing.wait()
        self.close_connection = True

    def _send(self, status, headers, body, with_body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class RangeServer:
    """Serves a folder while the `with` block runs.

    With `encodings`, as {".br": "br"}, a file `x.br` is served by the name `x`, with that
    Content-Encoding: as object stores do for what cloud-volume uploads.

    Requests for paths that are slow, as `is_slow(path)` says, are not answered until the end; or, if
    it `trickles`, those for a body get one byte per second.
    """

    def __init__(self, folder, is_slow=None, trickles=False, encodings=None):
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.folder = pathlib.Path(folder).resolve()
        self._server.log = []
        self._server.encodings = encodings or {}
        self._server.is_slow = is_slow
        self._server.trickles = trickles
        self._server.closing = threading.Event()
        self._server.slow_requests = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._server.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def wait_for_slow_request(self, timeout=120):
        """Returns once another request came that is not answered."""
        assert self._server.slow_requests.acquire(timeout=timeout), "no such request came"

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def log(self):
        """The requests since the last call of take_log()."""
        return tuple(self._server.log)

    def take_log(self):
        """The requests since the last call."""
        log, self._server.log = self._server.log, []
        return log


def main():
    with RangeServer(sys.argv[1]) as server:
        print(server.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
