"""A client that loses its connection again and again ends with every sequence number once.

    python3 Tests/SystemTests/resume.py .build/release/pharos [--events 100000] [--cuts 50] [--seed N]
"""

import argparse
import threading

from harness import Radio, Server, Stream, advert, region_site, seeded


def traffic(radio, observers, regions, done):
    """Observers that come near every region; the silence behind it takes them out again, while they are seen to live."""
    while not done.is_set():
        for observer in range(observers):
            radio.hear(f"handset-{observer}", [advert(major, observer) for major in range(1, regions + 1)])
            if done.wait(0.0005):
                return
        # Three rounds of life and silence are longer than the two seconds after which a region is left.
        for observer in list(range(observers)) * 3:
            radio.live(f"handset-{observer}")
            if done.wait(max(0.0005, 1.0 / observers)):
                return


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    generator = seeded(arguments)

    regions = 20
    server = Server(arguments.binary, region_site(regions))
    server.start()
    done = threading.Event()
    # Each visit of a region is four events: two of state, an enter and an exit.
    observers = arguments.events // (8 * regions) + 1
    threading.Thread(target=traffic, args=(Radio(server), observers, regions, done), daemon=True).start()

    seen, kinds = [], {}
    cuts = sorted(generator.randrange(1, arguments.events) for _ in range(arguments.cuts))
    connections = 0
    while len(seen) < arguments.events:
        stream = Stream(server, after=seen[-1] if seen else 0)
        connections += 1
        for identifier, kind, _ in stream:
            if identifier is None:
                assert kind in (None, "pharos.ranging", "pharos.fix"), f"an event without an id: {kind}"
                continue
            seen.append(identifier)
            kinds[kind] = kinds.get(kind, 0) + 1
            if cuts and len(seen) >= cuts[0]:
                cuts.pop(0)
                break
            if len(seen) >= arguments.events:
                break
        stream.close()
    done.set()
    status = server.stop()

    expected = list(range(1, len(seen) + 1))
    assert seen == expected, f"wrong from place {next(i for i, (a, b) in enumerate(zip(seen, expected)) if a != b)}"
    assert status == 0, f"the server ended with status {status}:\n" + "".join(server.said[-20:])
    print(f"{len(seen)} events over {connections} connections: every sequence number once, in order")
    for kind, count in sorted(kinds.items()):
        print(f"  {count:8} {kind}")


if __name__ == "__main__":
    main()
