"""What the server writes to standard error, and how it ends, as a service manager sees them.

    python3 Tests/SystemTests/logs.py .build/release/pharos
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import tempfile

from harness import free_port

SITE = """
observers: [{ id: desk }]
zones: [{ id: hall, observers: [desk] }]
positioning: { interval: 2s }
"""


def serve(binary, *arguments, output=subprocess.DEVNULL):
    """Starts a server."""
    return subprocess.Popen(
        [binary, "serve", *arguments], stdout=output, stderr=subprocess.PIPE, text=True, errors="strict"
    )


def ended(process):
    """Its status, its standard output and the lines of its standard error, once it has ended."""
    output, errors = process.communicate()
    return process.returncode, output or "", errors.splitlines()


def objects(lines):
    """The lines as JSON objects, each with a time, a level and a message."""
    found = [json.loads(line) for line in lines]
    for entry in found:
        assert {"time", "level", "message"} <= set(entry), entry
    return found


def check_alone(binary):
    """Without arguments it names the next command of each kind of user, in a terminal's width."""
    alone = subprocess.run([binary], capture_output=True, text=True, check=False)
    assert alone.returncode == 0 and not alone.stderr, alone
    for command in ("pharos serve --udp", "pharos serve --demo", "pharos replay", "pharos --help"):
        assert command in alone.stdout, alone.stdout
    assert all(len(line) <= 80 for line in alone.stdout.splitlines()), alone.stdout
    unknown = subprocess.run([binary, "surve"], capture_output=True, text=True, check=False)
    assert unknown.returncode == 64 and "surve" in unknown.stderr, unknown


def check_json(binary, folder):
    """Every line is an object, from the first to the last, whatever happens."""
    site = os.path.join(folder, "site.yaml")
    with open(site, "w", encoding="utf-8") as file:
        file.write(SITE)
    port = free_port(socket.SOCK_DGRAM)
    arguments = ["--site", site, "--udp", f"127.0.0.1:{port}", "--log-format", "json"]
    process = serve(binary, *arguments, "--output", "-", output=subprocess.PIPE)
    said = []
    for line in process.stderr:
        said.append(line)
        if "listening" in line:
            break
    process.send_signal(signal.SIGTERM)
    status, output, errors = ended(process)
    assert status == 0, errors
    entries = objects(said + errors)
    assert entries[0]["level"] == "warning", "the site's warning comes first: " + str(entries[0])
    assert any("metadata" in entry and "site" in entry["metadata"] for entry in entries), entries
    for line in output.splitlines():
        assert "specversion" in json.loads(line)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as holder:
        holder.bind(("127.0.0.1", port))
        status, _, errors = ended(serve(binary, *arguments))
        assert status == 1
        assert [entry["level"] for entry in objects(errors)] == ["warning", "error"], errors

    with open(site, "w", encoding="utf-8") as file:
        file.write("nonsense: 1\nmore: 2\n")
    for broken, expected in [(arguments, 78), (arguments + ["--loops", "99"], 64), (arguments + ["--no-such"], 64)]:
        status, _, errors = ended(serve(binary, *broken))
        assert status == expected, (broken, status)
        assert [entry["level"] for entry in objects(errors)] == ["error"], errors


def check_signal(binary, folder):
    """SIGTERM while the server still reads its site file ends it in an orderly way."""
    pipe = os.path.join(folder, "pipe.yaml")
    os.mkfifo(pipe)
    process = serve(binary, "--site", pipe, "--udp", "127.0.0.1:0")
    # Returns once the server opens the other end, which is before it listens.
    with open(pipe, "w", encoding="utf-8"):
        process.send_signal(signal.SIGTERM)
    status, _, errors = ended(process)
    assert status == 0, (status, errors)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    binary = parser.parse_args().binary
    with tempfile.TemporaryDirectory(prefix="pharos-logs-") as folder:
        check_json(binary, folder)
        check_signal(binary, folder)
    check_alone(binary)
    print("every line of a log in JSON is an object, and SIGTERM ends a server that starts")


if __name__ == "__main__":
    main()
