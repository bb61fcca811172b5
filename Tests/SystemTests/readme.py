"""Runs every shell command of the README as it is typed there, from top to bottom, in one folder.

    python3 Tests/SystemTests/readme.py .build/release [--only TEXT]

`swift run` starts the program that is built already; `swift test` and the package build are steps of their own in the gate
and in Tests/deep, and are named as skipped. What the README takes from the reader is there: a capture, walks, a gateway
that sends, and a btmon. 192.0.2.10 is this machine. Ports 50001 and 8080 must be free.
"""

import argparse
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import walks

REPOSITORY = Path(__file__).resolve().parents[2]
UUID = "7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21"

# A command that does not end by itself: what it must print before it is stopped as Ctrl-C does.
LASTING = [
    # The address comes with the first line and again, so that it stays in sight.
    (r"\bserve --demo\b", [r"dashboard  http://127\.0\.0\.1:8080", r" enter ", r"The dashboard is at http://127"]),
    (r"\bpharos listen\b", [r"ac:23:3f:a0:00:61"]),
    (r"\bpharos serve\b", [r"[Ll]istening"]),
    (r"^curl -N\b", [r"region\.enter"]),
]
# A command that another step of the gate or of Tests/deep runs.
ELSEWHERE = [
    (r"^swift test\b", "the gate's own step"),
    (r"Sources/Server/Packaging/build", "Tests/packages"),
    (r"swift build -c release --traits MQTT", "Tests/deep --only brokers"),
    (r"swift run -c release --traits NATS", "Tests/deep --only cluster"),
    (r"^(sha256sum|ssh|sudo)\b", "Tests/packages"),
]
# A command for which a server must run: the last `serve` of the README is started again.
SERVED = [r"^curl\b", r"\bpharos replay\b", r"--url http://127\.0\.0\.1:8080", r"pharos-gateway"]

SWIFT = """#!/bin/sh
# What `swift run` would start once it has built.
[ "$1" = run ] || exit 64
shift
if [ "$1" = -c ]; then shift 2; fi
name=$1
shift
exec "{programs}/$name" "$@"
"""
BTMON = """#!/bin/sh
# As btmon does: text on standard output, records where -w says.
[ "$1" = -w ] || exit 64
echo "Bluetooth monitor ver 5.66"
cat "{capture}" >"$2"
"""


def commands(text):
    """The shell commands of the README, each with the number of its line; comments are left to the shell."""
    found, lines, is_shell, held = [], text.split("\n"), False, ""
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            is_shell = line == "```sh"
        elif is_shell and line.strip():
            held += line
            if held.endswith("\\"):
                held = held[:-1]
                continue
            found.append((number, held))
            held = ""
    return found


def monitor_capture():
    """A btsnoop capture of the monitor's kind: one iBeacon that the radio hears ten times."""
    advert = bytes.fromhex("0201061aff4c000215" + UUID.replace("-", "") + "00280001c5")
    event = bytes([2, 1, 0, 0]) + bytes.fromhex("0100002800c4") + bytes([len(advert)]) + advert + bytes([0xC4])
    packet = bytes([0x3E, len(event)]) + event
    records = b""
    for index in range(10):
        stamp = 0x00E03AB44A676000 + (1_700_000_000 + index) * 1_000_000
        records += struct.pack(">IIIIQ", len(packet), len(packet), 3, 0, stamp) + packet
    return b"btsnoop\0" + struct.pack(">II", 1, 2001) + records


class Gateway:
    """A gateway that hears three tags, and another one every three seconds, for as long as the test runs."""

    def __init__(self):
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.send, daemon=True)
        self.thread.start()

    def send(self):
        turn = 0
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
            while not self.ended.wait(0.2):
                turn += 1
                adverts = [self.advert(minor) for minor in (1, 2, 3, 4 + turn // 15)]
                message = json.dumps({"observer": "ac:23:3f:a0:00:61", "adverts": adverts}).encode()
                endpoint.sendto(message, ("127.0.0.1", 50001))

    @staticmethod
    def advert(minor):
        data = f"0201061aff4c000215{UUID.replace('-', '')}0028{minor:04x}c5"
        return {"mac": f"c4:21:00:28:{minor // 256:02x}:{minor % 256:02x}", "rssi": -60, "data": data}


class Shell:
    """The folder, the path and the processes of one reading of the README."""

    def __init__(self, folder, programs):
        self.folder = folder
        self.server = None
        self.last_served = None
        tools = folder / ".tools"
        tools.mkdir()
        capture = tools / "monitor.btsnoop"
        capture.write_bytes(monitor_capture())
        self.tool(tools / "swift", SWIFT.format(programs=programs))
        self.tool(tools / "btmon", BTMON.format(capture=capture))
        # The text speaks of an installed `pharos` as well.
        for name in ("pharos", "pharos-gateway"):
            (tools / name).symlink_to(programs / name)
        if os.geteuid() != 0 and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode != 0:
            self.tool(tools / "sudo", "#!/bin/sh\nexit 0\n")
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "DEBIAN_FRONTEND": "noninteractive"}

    @staticmethod
    def tool(path, text):
        path.write_text(text)
        path.chmod(0o755)

    def start(self, command):
        return subprocess.Popen(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, text=True, errors="replace",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            # A shell that runs in the background hands down SIGINT as ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def finish(self, process, command):
        """Runs a command to its end, which must be 0."""
        timer = threading.Timer(300, lambda: os.killpg(process.pid, signal.SIGKILL))
        timer.start()
        output = process.communicate()[0]
        timer.cancel()
        assert process.returncode == 0, f"{command}\nended with {process.returncode}:\n{output[-3000:]}"
        return output

    def await_lines(self, process, command, patterns):
        """Reads what a command prints until each pattern was seen."""
        timer = threading.Timer(60, lambda: os.killpg(process.pid, signal.SIGKILL))
        timer.start()
        said, missing = "", list(patterns)
        while missing:
            line = process.stdout.readline()
            assert line, f"{command}\nended before it printed {missing}:\n{said[-3000:]}"
            said += line
            missing = [pattern for pattern in missing if not re.search(pattern, said)]
        timer.cancel()
        threading.Thread(target=process.stdout.read, daemon=True).start()

    def interrupt(self, process, command):
        """Stops a command as Ctrl-C does; a server must end with 0, others may end by the signal."""
        os.killpg(process.pid, signal.SIGINT)
        status = process.wait(timeout=60)
        assert status == 0 or "serve" not in command and status == -signal.SIGINT, f"{command}\nended with {status} after Ctrl-C"

    def serve(self):
        if self.server is None:
            assert self.last_served, "no `pharos serve` comes before this command"
            self.server = self.start(self.last_served)
            self.await_lines(self.server, self.last_served, [r"[Ll]istening"])

    def end_server(self):
        if self.server is not None:
            self.interrupt(self.server, self.last_served)
            self.server = None

    def run(self, command):
        """Runs one command of the README; returns what became of it."""
        for pattern, place in ELSEWHERE:
            if re.search(pattern, command):
                return f"skipped: {place}"
        command = command.replace("192.0.2.10", "127.0.0.1")
        if any(re.search(pattern, command) for pattern in SERVED):
            self.serve()
        else:
            self.end_server()
        patterns = next((patterns for pattern, patterns in LASTING if re.search(pattern, command)), None)
        process = self.start(command)
        if patterns is None:
            self.finish(process, command)
            return "ended with 0"
        self.await_lines(process, command, patterns)
        self.interrupt(process, command)
        if "serve" in command and "--demo" not in command:
            self.last_served = command
        return "printed " + ", ".join(patterns)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", type=lambda text: Path(text).resolve())
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    found = commands((REPOSITORY / "README.md").read_text(encoding="utf-8"))
    assert len(found) >= 15, f"only {len(found)} commands in the README"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for entry in ("Sources", "Captures", "Package.swift"):
            (folder / entry).symlink_to(REPOSITORY / entry)
        (folder / "my.pcapng").symlink_to(REPOSITORY / "Captures/museum-visit/capture.pcapng")
        walks.write(folder)
        shell = Shell(folder, arguments.programs)
        gateway = Gateway()
        skipped = 0
        try:
            for number, command in found:
                if arguments.only in command:
                    begun = time.monotonic()
                    result = shell.run(command)
                    skipped += result.startswith("skipped")
                    print(f"README.md:{number}: {result} ({time.monotonic() - begun:.0f} s): {command[:90]}", flush=True)
        finally:
            gateway.ended.set()
            shell.end_server()
    print(f"{len(found) - skipped} commands of the README work as typed, {skipped} are run elsewhere")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit(f"readme: {error}")
