"""Sets behind a server that speaks HTTP/2, with a certificate of its own."""

import json
import os
import pathlib
import subprocess
import sys

import dolium
import pytest

import program
from sharded_sets import make_spec

SERVER = pathlib.Path(program.ROOT) / "tests" / "support" / "http2_server.py"
READER = """
import sys, dolium
chunks = {id: b"chunk %d " % id * 50 for id in range(3000)}
there = dolium.open(sys.argv[1])
assert there[77] == chunks[77]
assert there.get_many(list(chunks)) == list(chunks.values())
assert there.get(3000) is None
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        + ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext"]
        + ["subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder


@pytest.fixture
def server(certificate, tmp_path):
    command = [sys.executable, SERVER, tmp_path, certificate / "cert.pem", certificate / "key.pem"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(timeout=30)


def counts_of(server):
    """Stops it, and returns how often it saw what."""
    server.stdin.close()
    return json.loads(server.stdout.readline())


def environment(certificate=None):
    """Of a reader that trusts only the certificate, or what the system trusts."""
    names = ("CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "https_proxy", "HTTPS_PROXY")
    env = {name: value for name, value in os.environ.items() if name not in names}
    env["no_proxy"] = "*"
    if certificate is not None:
        env["CURL_CA_BUNDLE"] = str(certificate / "cert.pem")
    return env


def test_all_requests_are_http2(server, certificate, tmp_path):
    chunks = {id: b"chunk %d " % id * 50 for id in range(3000)}
    dolium.write_sharded(tmp_path / "set", make_spec((0, 3, 1), "murmurhash3_x86_128"), chunks)
    url = f"https://localhost:{int(server.stdout.readline())}/set"
    subprocess.run(
        [sys.executable, "-c", READER, url], env=environment(certificate), check=True, timeout=60
    )
    counts = counts_of(server)
    assert {name.split()[0] for name in counts} == {"HTTP/2"}, counts
    assert counts["HTTP/2 GET range"] >= 3


def test_a_certificate_that_nobody_knows_is_refused(server, tmp_path):
    dolium.write_sharded(tmp_path / "set", make_spec((0, 0, 0)), {1: b"one"})
    url = f"https://localhost:{int(server.stdout.readline())}/set"
    done = subprocess.run(
        [program.PROGRAM, "cat", url, "1"], env=environment(), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"certificate" in done.stderr
    assert counts_of(server) == {}
