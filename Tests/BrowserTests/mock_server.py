#!/usr/bin/env python3
"""Serves the dashboard's pages from the sources, and a made-up place behind them.

    python3 mock_server.py --port 8090 [--tags 500] [--moves 2] [--fixes 10] [--empty] [--token SECRET] [--data FILE]

For work on the pages: edit a file of Sources/Model/PharosDashboard/Assets and reload the browser.
"""

import argparse
import json
import os
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from pathlib import Path

from mock_routes import Handler
from mock_world import World


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address, world, token, data):
        super().__init__(address, Handler)
        self.world, self.token, self.data, self.stopping = world, token, data, False
        if data and os.path.exists(data):
            kept = json.loads(Path(data).read_text())
            world.applications = kept["applications"]
            world.events = [tuple(entry) for entry in kept["events"]]
            world.live = list(world.events)
            world.sequence = world.events[-1][0] if world.events else 0

    def handle_error(self, request, client_address):
        pass

    def save(self):
        if self.data:
            with self.world.lock:
                Path(self.data).write_text(
                    json.dumps({"applications": self.world.applications, "events": self.world.events})
                )

    def run_world(self):
        """The world goes on ten times a second."""
        due, owed = time.monotonic(), 0.0
        pace = threading.Event()
        while not self.stopping:
            due += 0.1
            pace.wait(max(0.0, due - time.monotonic()))
            owed += self.world.moves * 0.1
            while owed >= 1:
                self.world.step()
                owed -= 1
            if self.world.fix_rate:
                self.world.walk(0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--tags", type=int, default=24)
    parser.add_argument("--moves", type=float, default=1.0, help="events a second")
    parser.add_argument("--fixes", type=float, default=0.0, help="fixes a second of each subject; only 10 or none")
    parser.add_argument("--empty", action="store_true")
    parser.add_argument("--token")
    parser.add_argument("--data")
    options = parser.parse_args()
    world = World(tags=options.tags, empty=options.empty, moves=options.moves, fixes=options.fixes)
    server = Server(("127.0.0.1", options.port), world, options.token, options.data)
    threading.Thread(target=server.run_world, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    try:
        server.serve_forever(poll_interval=0.1)
    except KeyboardInterrupt:
        pass
    finally:
        server.stopping = True
        server.save()
        sys.stdout.flush()


if __name__ == "__main__":
    main()
