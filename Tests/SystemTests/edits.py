"""A server that is killed during edits comes back with each request whole or absent.

    python3 Tests/SystemTests/edits.py .build/release/pharos [--kills 60] [--seed N]

Each round makes an application with a purpose and twenty regions, puts guidance and a key, and deletes the application while
the server is killed. What is there after the restart is all of it or nothing.
"""

import argparse
import http.client
import os
import threading

from harness import MUSEUM, Server, region_site, seeded, until

REGIONS = 20


def log_size(server):
    """The length of the journal's log, which grows with each page that a request writes."""
    try:
        return os.path.getsize(os.path.join(server.folder, "data", "journal.sqlite-wal"))
    except OSError:
        return 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    generator = seeded(arguments)
    server = Server(arguments.binary, region_site(1))
    server.start()
    whole = absent = 0
    growth = 100_000
    for kill in range(arguments.kills):
        path = f"/v1/applications/shop{kill}"
        status, _ = server.send("PUT", path, {"purpose": "To find the way.", "regionLimit": REGIONS})
        assert status == 201, status
        for number in range(REGIONS):
            region = {"uuid": MUSEUM, "major": number + 1}
            status, answer = server.send("PUT", f"{path}/regions/r{number}", region)
            assert status == 201, answer

        answers = []

        def edit():
            try:
                answers.append(server.send("DELETE", path, {})[0])
                answers.append(server.send("POST", f"/v1/observers/gateway-{kill}/keys", {"radios": [f"radio-{kill}"]})[0])
            except (OSError, http.client.HTTPException):
                pass

        # The moment is drawn: in half of the rounds before the first page that the requests write, otherwise among their pages.
        before = log_size(server)
        moment = before + growth * (generator.random() * 2 - 1)
        editor = threading.Thread(target=edit)
        editor.start()
        until(lambda: log_size(server) > moment or not editor.is_alive(), 60)
        if len(answers) == 2:
            growth = max(1, log_size(server) - before)
        server.kill()
        editor.join()
        server.start()
        status, application = server.get(path)
        if status == 404:
            absent += 1
        else:
            whole += 1
            assert application["regions"] == REGIONS, f"{application['regions']} of {REGIONS} regions came back"
            assert application.get("purpose") == "To find the way.", application
            assert not answers, "a deleted application came back"
        observers = {entry["id"] for entry in server.get("/v1/observers")[1]["observers"]}
        keyed = server.get(f"/v1/observers/gateway-{kill}/keys")[0] == 200
        assert keyed == (len(answers) > 1) or len(answers) == 1, (keyed, answers)
        assert f"gateway-{kill}" not in observers or keyed, "an observer was accepted without its key"
    status = server.stop()
    print(f"{arguments.kills} kills during edits: {whole} whole, {absent} absent")
    assert status == 0, f"the server ended with status {status}"


if __name__ == "__main__":
    main()
