"""The first hour: gateways without a name, what waits, and the room that one click makes."""

import itertools
import json
import socket
import tempfile
import threading

import support

UUID = "7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21"
GATEWAY = "ac:23:3f:a0:00:61"


def gateway(identity, listed=False):
    return {"id": identity, "listed": listed, "isUp": True, "lastHeard": "2026-01-01T00:00:00Z", "adverts": 9}


def hearing(minor, observer=GATEWAY, registered=False):
    return {
        "observer": observer,
        "identities": [f"{UUID}/40/{minor}"],
        "rssi": -60,
        "advertsPerSecond": 1,
        "lastHeard": "2026-01-01T00:00:00Z",
        "registered": registered,
    }


class FirstRun(support.MockTest):
    """An empty site with a gateway on its network, against the mock server."""

    mocked = {"empty": True}

    def test_one_click_makes_a_room_and_its_region(self):
        world = self.mock.world
        handset = "7d1c2f3e-0000-4000-8000-000000000001"
        world.observer_rows = lambda: [gateway(GATEWAY, listed=GATEWAY in world.named), gateway(handset)]
        world.heard_rows = lambda _: [hearing(minor, registered=bool(world.applications)) for minor in range(12)]
        self.page.goto(self.mock.base)
        support.expect(
            self.page.get_by_role("heading", name=f"Gateway {GATEWAY} found, 12 beacons. Name it?")
        ).to_be_visible()
        support.expect(self.page.get_by_text("12 unknown beacons, 1 gateway waits for a name")).to_be_visible()
        support.expect(self.page.get_by_text("Makes the room room-1 and the region tags-7c3b1f0e,")).to_be_visible()
        self.page.get_by_label(f"Room of {GATEWAY}").fill("Ward 3 / East")
        self.page.get_by_role("button", name="Make the room").click()
        support.expect(self.page.get_by_text("Ward 3 / East is a room now.")).to_be_visible()
        self.assertEqual(world.named, {GATEWAY: {"name": "Ward 3 / East"}})
        self.assertEqual(world.made_zones, {"ward-3-east": {"name": "Ward 3 / East", "observers": [GATEWAY]}})
        regions = world.applications["default"]["regions"]
        self.assertEqual(list(regions), ["tags-7c3b1f0e"])
        self.assertEqual((regions["tags-7c3b1f0e"]["uuid"], regions["tags-7c3b1f0e"]["subject"]), (UUID, "beacon"))
        self.assertEqual((regions["tags-7c3b1f0e"]["notifyOnEntry"], regions["tags-7c3b1f0e"]["notifyOnExit"]), (False, False))
        support.expect(self.page.get_by_role("heading", name="Name it?")).to_have_count(0)

    def test_one_button_makes_the_rooms_of_all_gateways_before_any_region(self):
        world = self.mock.world
        ids = [f"ac:23:3f:a0:00:{number}" for number in (61, 62, 63, 64)]
        world.observer_rows = lambda: [gateway(identity, listed=identity in world.named) for identity in ids]
        world.heard_rows = lambda _: [hearing(minor, ids[minor % 4], bool(world.applications)) for minor in range(12)]
        written = []
        self.page.on("request", lambda sent: written.append(sent.url) if sent.method in ("PUT", "POST") else None)
        self.page.goto(self.mock.base)
        fields = self.page.get_by_label("Room of")
        support.expect(fields).to_have_count(4)
        for place, name in enumerate(["Ward 3", "ward 3", "Store", ""]):
            fields.nth(place).fill(name)
        support.expect(self.page.get_by_text("One room of 2 gateways.")).to_have_count(2)
        support.expect(self.page.get_by_text("Left out: it stays without a name.")).to_have_count(1)
        self.page.get_by_role("button", name="Make 2 rooms").click()
        support.expect(self.page.get_by_text("Ward 3 and Store are rooms now.")).to_be_visible()
        rooms = {"ward-3": ids[:2], "store": [ids[2]]}
        self.assertEqual({key: zone["observers"] for key, zone in world.made_zones.items()}, rooms)
        self.assertEqual([world.named[identity]["name"] for identity in ids[:3]], ["Ward 3", "Ward 3 2", "Store"])
        kinds = [url.split("/v1/")[1].split("/")[0] for url in written]
        # A region that came before the last room would place tags in the first one, and then move them.
        self.assertEqual(kinds.count("zones"), 1)
        self.assertLess(kinds.index("zones"), kinds.index("applications"))
        support.expect(self.page.get_by_label(f"Room of {ids[3]}")).to_be_visible()
        self.page.get_by_label(f"Room of {ids[3]}").fill("store")
        support.expect(self.page.get_by_text("Joins the room Store, which exists.")).to_be_visible()
        self.page.get_by_role("button", name="Add to the room").click()
        support.expect(self.page.get_by_label("Room of")).to_have_count(0)
        self.assertEqual(world.made_zones["store"]["observers"], ids[2:])

    def test_a_tag_that_is_held_to_a_gateway_is_named_there(self):
        world = self.mock.world
        ids = [GATEWAY, "ac:23:3f:a0:00:62"]
        world.observer_rows = lambda: [gateway(identity) for identity in ids]
        now = support.now()
        rows = [hearing(minor, identity) | {"lastHeard": now} for minor in range(3) for identity in ids]
        rows[4]["rssi"] = -31
        world.heard_rows = lambda _: rows
        self.page.goto(self.mock.base)
        items = self.page.locator(".new-gateways li")
        support.expect(items.first).to_contain_text("loudest Tag 40/2, −31 dBm")
        support.expect(items.nth(1)).not_to_contain_text("Tag 40/2")

    def test_an_empty_page_says_where_to_send_and_how_far_that_is_reached(self):
        world = self.mock.world
        self.page.goto(self.mock.base)
        card = self.page.locator("section.card", has=self.page.get_by_role("heading", name="Nothing has arrived yet"))
        support.expect(card).to_contain_text("127.0.0.1:50001")
        support.expect(card).to_contain_text("raddec, pharos, json, ingics")
        support.expect(card).to_contain_text("Only this machine.")
        world.udp = "0.0.0.0:50001"
        support.expect(card).to_contain_text("this machine’s address, port 50001", timeout=15_000)
        support.expect(card).to_contain_text("Other machines too")
        self.page.goto(f"{self.mock.base}#/gateways")
        support.expect(card).to_be_visible()
        world.observer_rows = lambda: [gateway(GATEWAY)]
        support.expect(card).to_be_hidden()

    def test_the_banner_counts_what_waits_and_leads_there(self):
        world = self.mock.world
        waiting = [f"ac:23:3f:ff:00:{number:02x}" for number in range(5)]
        world.quarantine_rows = lambda: [
            {"id": identity, "firstHeard": "2026-01-01T00:00:00Z", "lastHeard": "2026-01-01T00:00:00Z", "reports": 7}
            for identity in waiting
        ]
        world.heard_rows = lambda _: [hearing(minor, waiting[minor % 5]) for minor in range(17)]
        self.page.goto(self.mock.base)
        banner = self.page.get_by_text("17 unknown beacons, 5 gateways wait to be accepted")
        support.expect(banner).to_be_visible()
        support.expect(self.page.get_by_role("heading", name="5 new gateways found. Name their rooms?")).to_be_visible()
        support.expect(self.page.get_by_label("Room of")).to_have_count(5)
        self.page.get_by_role("button", name="Not now").click()
        support.expect(self.page.get_by_label("Room of")).to_have_count(0)
        banner.get_by_role("link", name="17 unknown beacons").click()
        support.expect(self.page.get_by_role("heading", name="17 unknown beacons")).to_be_visible()
        link = self.page.get_by_role("link", name=f"Make a region of {UUID}/40/3", exact=True)
        link.click()
        sheet = self.page.get_by_role("dialog")
        support.expect(sheet.get_by_label("Whose state is it")).to_have_value("beacon")
        support.expect(sheet.get_by_label("Identifier")).to_have_value("tag-40-3")


class FirstRunOfTheServer(support.BrowserTest):
    """`serve` without a site, and a gateway that sends to it."""

    def setUp(self):
        self.binary = support.pharos_binary()
        if not self.binary or not support.serves_http(self.binary):
            self.skipTest("there is no built server with pages")

    def test_from_the_first_datagram_to_an_exported_room(self):
        with tempfile.TemporaryDirectory() as data, support.Pharos(
            self.binary, data, arguments=["--udp", "127.0.0.1:0"], demo=False
        ) as server, support.Visit(self.browser) as visit:
            visit.page.goto(server.base)
            support.expect(visit.page.locator(".figures")).to_be_visible()
            with Gateway(server.udp_port()):
                title = f"Gateway {GATEWAY} found, 3 beacons. Name it?"
                support.expect(visit.page.get_by_role("heading", name=title)).to_be_visible(timeout=10_000)
                visit.page.get_by_role("button", name="Make the room").click()
                support.expect(visit.page.get_by_text("Room 1 is a room now.")).to_be_visible()
                support.expect(visit.page.get_by_text("3 unknown beacons")).to_be_hidden()
                visit.page.goto(f"{server.base}#/events?kind=region.enter,zone.enter")
                rows = visit.page.locator(".feed .row")
                support.expect(rows.filter(has_text="came to Room 1").first).to_be_visible(timeout=30_000)
                # The region only names the tags: each move makes one event.
                support.expect(rows.filter(has_text="entered tags-7c3b1f0e")).to_have_count(0)
                visit.page.goto(f"{server.base}#/overview")
                tags = visit.page.locator(".figure", has_text="Tags in a room")
                support.expect(tags).to_contain_text("3 of 3 tags", timeout=30_000)
                visit.page.goto(f"{server.base}#/status")
                with visit.page.expect_download() as download:
                    visit.page.get_by_role("button", name="Site file").click()
                text = download.value.path().read_text()
            self.assertIn("- {id: room-1, name: Room 1, observers: ['ac:23:3f:a0:00:61']}", text)
            self.assertEqual(visit.errors, [])


class Gateway:
    """A gateway that hears tags, five times a second, and sends JSON; `levels` are those of the tags by their minors."""

    def __init__(self, port, identity=GATEWAY, levels=None):
        self.identity = identity
        self.levels = levels or {1: -60, 2: -60, 3: -60}
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.send, args=(port,), daemon=True)

    def message(self):
        head = f"0201061aff4c000215{UUID.replace('-', '')}0028"
        adverts = [
            {"mac": f"c4:21:00:28:00:0{minor}", "rssi": level, "data": f"{head}000{minor}c5"}
            for minor, level in self.levels.items()
        ]
        return json.dumps({"observer": self.identity, "adverts": adverts}).encode()

    def send(self, port):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as endpoint:
            for _ in itertools.takewhile(lambda _: not self.stopping.wait(0.2), itertools.count()):
                endpoint.sendto(self.message(), ("127.0.0.1", port))

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.thread.join()
