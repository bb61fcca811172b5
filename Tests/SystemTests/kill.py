"""A server that is killed again and again loses no published event, publishes none twice, and invents no exit.

    python3 Tests/SystemTests/kill.py .build/release/pharos [--kills 100] [--guests 100] [--seed N]

Some handsets are near a beacon all the time: they must never exit. Others come and go. A client follows the stream
and resumes with the last id it saw.
"""

import argparse
import json
import threading

from harness import Radio, Server, Stream, advert, region_site, seeded

STAYING = 20
# How long a guest stays away at least, in its turns of about 0.1 s: longer than the silence that takes it out.
PAUSE = 25


def traffic(radio, generator, guests, done):
    """Those that stay are heard twenty times a second; the others come near a region for a while, and then only live."""
    visits = {guest: (1, 0) for guest in range(guests)}
    number = 0
    while not done.wait(0.01):
        number += 1
        for observer in range(STAYING):
            if (number + observer) % 5 == 0:
                radio.hear(f"staying-{observer}", [advert(1, observer)])
        for guest, (region, left) in visits.items():
            if (number + guest) % 10:
                continue
            if left > 0:
                radio.hear(f"guest-{guest}", [advert(region, guest)])
            else:
                radio.live(f"guest-{guest}")
            if left < -PAUSE:
                region, left = generator.randrange(2, 9), generator.randrange(1, 8)
            visits[guest] = (region, left - 1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--guests", type=int, default=100)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    generator = seeded(arguments)

    server = Server(arguments.binary, region_site(8))
    server.start()
    done = threading.Event()
    visitors = generator.__class__(generator.random())
    threading.Thread(target=traffic, args=(Radio(server), visitors, arguments.guests, done), daemon=True).start()

    published = {}
    last = 0
    for kill in range(arguments.kills + 1):
        # The moment is drawn in events, so that it falls while there is something to lose.
        patience = generator.randrange(1, arguments.guests + 20) if kill < arguments.kills else 300
        stream = Stream(server, after=last)
        for identifier, _, data in stream:
            if identifier is None:
                continue
            event = json.loads(data)
            assert identifier == last + 1, f"after sequence {last} came {identifier}"
            published[identifier] = event["id"]
            last = identifier
            patience -= 1
            if patience == 0:
                break
        if kill < arguments.kills:
            server.kill()
            stream.close()
            server.start()
        else:
            stream.close()
    done.set()

    ids, inside, exits, wrong = set(), {}, 0, []
    expected = 1
    for entry in server.journal():
        sequence, event = entry["sequence"], entry["event"]
        assert sequence == expected, f"the journal goes from {expected - 1} to {sequence}"
        expected += 1
        assert event["id"] not in ids, f"id {event['id']} was given twice"
        ids.add(event["id"])
        assert published.get(sequence, event["id"]) == event["id"], f"sequence {sequence} was published as another event"
        place = (event.get("subject"), event["data"].get("region"))
        if event["type"] == "pharos.region.enter":
            if inside.get(place):
                wrong.append(f"{sequence}: {place} enters twice")
            inside[place] = True
        if event["type"] == "pharos.region.exit":
            exits += 1
            if not inside.get(place):
                wrong.append(f"{sequence}: {place} exits without being inside")
            inside[place] = False
            if event["subject"].startswith("staying-"):
                wrong.append(f"{sequence}: {place} was there all the time: {json.dumps(event['data']['evidence'])}")
    lost = [sequence for sequence in published if sequence >= expected]
    status = server.stop()

    print(
        f"{arguments.kills} kills, {expected - 1} events, {exits} exits, {len(published)} published: "
        f"{len(lost)} lost, {len(wrong)} wrong"
    )
    for line in wrong[:20]:
        print("  " + line)
    assert not lost and not wrong
    assert all(inside.get((f"staying-{observer}", "r1")) for observer in range(STAYING)), "one that stays is not inside"
    assert status == 0, f"the server ended with status {status}"


if __name__ == "__main__":
    main()
