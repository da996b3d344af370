"""A file server that speaks HTTP/2 over TLS on a free loopback port, for one client.

    python http2_server.py FOLDER CERTIFICATE KEY    prints its port as the first line

It serves until standard input ends, then prints the HTTP versions and methods that it saw, as a
JSON object of counts. Needs hypercorn and h2.
"""

import asyncio
import collections
import json
import pathlib
import re
import socket
import sys

from hypercorn.asyncio import serve
from hypercorn.config import Config


def make_application(folder, counts):
    async def application(scope, receive, send):
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        wanted = re.fullmatch(rb"bytes=(\d+)-(\d+)", headers.get(b"range", b""))
        kind = "range" if wanted else "whole"
        counts[f"HTTP/{scope['http_version']} {scope['method']} {kind}"] += 1
        path = folder / scope["path"].lstrip("/")
        status, answer, body = 404, [], b""
        if path.is_file():
            status, body = 200, path.read_bytes()
            answer = [(b"etag", b'"%x"' % path.stat().st_mtime_ns)]
            if wanted:
                first, last = int(wanted[1]), min(int(wanted[2]), len(body) - 1)
                answer.append((b"content-range", b"bytes %d-%d/%d" % (first, last, len(body))))
                status, body = 206, body[first : last + 1]
        answer.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": status, "headers": answer})
        if scope["method"] == "HEAD":
            body = b""
        await send({"type": "http.response.body", "body": body})

    return application


async def main(folder, certificate, key):
    listener = socket.create_server(("127.0.0.1", 0))
    config = Config()
    config.bind = [f"fd://{listener.fileno()}"]
    config.certfile, config.keyfile = certificate, key
    config.loglevel = "WARNING"
    counts = collections.Counter()
    stop = asyncio.Event()
    application = make_application(pathlib.Path(folder), counts)
    server = asyncio.create_task(serve(application, config, shutdown_trigger=stop.wait))
    print(listener.getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    stop.set()
    await server
    print(json.dumps(counts), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
