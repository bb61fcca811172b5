"""A single server becomes a cluster, nodes join by its journal, and a shadow is compared and promoted, over three servers of NATS.

    python3 Tests/ClusterTests/versions.py .build-nats/release/pharos [--next OTHER] [--differs] [--seconds 20] [--seed N]

The shadow runs OTHER, a build of another version; without it the same build. `--differs` says that OTHER decides otherwise, so that
differences must be named.
"""

import argparse
import subprocess
import threading

from cluster import Broker, compare, position, reachable, ready, traffic
from harness import Radio, Server, region_site, seeded, until


def cluster(binary, broker, *arguments):
    """The status and the lines of a command."""
    command = [binary, "cluster", *arguments, "--cluster", broker.address]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print("   ", "\n    ".join((done.stdout + done.stderr).splitlines()))
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--next")
    parser.add_argument("--differs", action="store_true")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    generator = seeded(arguments)
    later = arguments.next or arguments.binary
    broker, done = Broker(), threading.Event()
    first = Server(arguments.binary, region_site(8))
    others = [Server(arguments.binary, region_site(8), ["--cluster", broker.address]) for _ in range(2)]
    shadow = Server(later, region_site(8), ["--cluster", broker.address, "--shadow"])
    servers = [first, *others, shadow]
    try:
        for port in broker.ports:
            until(lambda: reachable(port), 30)
        first.start()
        ended = threading.Event()
        threading.Thread(target=traffic, args=([Radio(first)], generator.__class__(1), ended), daemon=True).start()
        until(lambda: position(first) > 30, 30)
        ended.set()
        single = position(first)
        first.stop()

        first.arguments = ["--cluster", broker.address]
        for server in (first, *others, shadow):
            server.start()
        until(lambda: all(ready(server) for server in servers), 120)
        print(f"a single server of {single} events is a cluster of three nodes, and a shadow")
        radios = [Radio(server) for server in (first, *others)]
        threading.Thread(target=traffic, args=(radios, generator.__class__(2), done), daemon=True).start()
        threading.Event().wait(arguments.seconds)
        status, text = cluster(later, broker, "shadow")
        assert (status, "no difference" in text) == ((1, False) if arguments.differs else (0, True)), text

        _, text = cluster(later, broker, "status")
        version = next(line.split()[2] for line in text.splitlines() if " shadow" in line)
        status, _ = cluster(later, broker, "promote", version)
        assert status == 0
        shadow.process.wait(60)
        shadow.start()
        until(lambda: ready(shadow), 120)
        if arguments.next:
            for server in (first, *others):
                server.process.wait(120)
                server.binary = later
                server.start()
        until(lambda: all(ready(server) for server in servers), 120)
        threading.Event().wait(arguments.seconds / 2)
        done.set()
        until(lambda: len({position(server) for server in servers}) == 1, 120)
        cluster(later, broker, "status")
        difference = compare(servers)
        assert difference is None, difference
        count = len(list(shadow.journal()))
        print(f"4 journals of {count} events are equal, at least {single} of them the single server's")
        print("passed")
    finally:
        done.set()
        for server in servers:
            if server.process:
                server.process.kill()
        broker.stop()


if __name__ == "__main__":
    main()
