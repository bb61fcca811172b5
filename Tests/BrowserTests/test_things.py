"""Things, rooms and gateways: where each is, by which gateway, and what an owner changes."""

import csv
import io
import urllib.parse

import support

UUID = "0018B4CC-1937-4981-B893-9D7191B22E35"


class Things(support.MockTest):
    """The museum with 12 tags, some of which are located, and visitors."""

    mocked = {"tags": 12, "moves": 0, "fixes": 10, "walks": False}

    def rows(self):
        return self.page.get_by_role("table", name="Things").get_by_role("row")

    def shown(self):
        return self.page.locator("td.first a > span:first-child").all_text_contents()

    def test_every_tag_and_person_has_one_row_with_its_room(self):
        for tag in self.world.zone_of:
            self.world.zone_of[tag] = "cafe"
        self.open("things")
        row = self.page.get_by_role("row", name="Trolley 2 ")
        support.expect(row).to_contain_text("Café")
        support.expect(row).to_contain_text("Tag")
        self.page.get_by_label("Where is").fill("trolley 1")
        support.expect(self.rows().nth(1)).to_contain_text("Trolley 1")
        self.assertEqual({"Trolley 10", "Trolley 12"}, set(self.shown()))
        self.page.get_by_label("Where is").fill("")
        self.page.get_by_label("Show").select_option("person")
        support.expect(self.page.get_by_role("heading", name="people")).to_be_visible()
        support.expect(self.page.get_by_role("row", name="Trolley 2 ")).to_have_count(0)

    def test_the_filters_the_order_and_the_table_agree(self):
        tags = list(self.world.zone_of)
        for index, tag in enumerate(tags):
            self.world.zone_of[tag] = "lobby" if index < 3 else "archive"
        self.open("things?show=tag")
        self.page.get_by_label("Room").select_option("Lobby")
        support.expect(self.rows()).to_have_count(4)
        support.expect(self.page.get_by_role("heading", name="3 tags")).to_be_visible()
        name = self.page.get_by_role("columnheader", name="Name")
        name.get_by_role("button").click()
        support.expect(name).to_have_attribute("aria-sort", "ascending")
        name.get_by_role("button").click()
        support.expect(name).to_have_attribute("aria-sort", "descending")
        shown = self.shown()
        self.assertEqual(shown[0], "Trolley 2")
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name="Download CSV").click()
        lines = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
        self.assertEqual([line["name"] for line in lines], shown)
        self.assertEqual({line["room"] for line in lines}, {"Lobby"})

    def test_a_device_counts_once_however_many_hear_it(self):
        def hearing(observer, rssi):
            return {
                "observer": observer,
                "address": "f4:12:9a:00:20:01",
                "identities": [f"{UUID}/9/9"],
                "rssi": rssi,
                "advertsPerSecond": 1,
                "lastHeard": "2026-01-01T00:00:00Z",
                "registered": False,
            }

        rows = [hearing(identity, -50 - index) for index, identity in enumerate(self.world.observers)]
        self.world.heard_rows = lambda _: rows
        self.open("things?show=unknown")
        support.expect(self.page.get_by_role("heading", name="1 unknown beacon")).to_be_visible()
        support.expect(self.rows().nth(1)).to_contain_text("−50 dBm")
        # One of the ten gateways is down: what it heard says nothing of now.
        support.expect(self.rows().nth(1)).to_contain_text("and 8 more")

    def test_a_gateway_that_is_down_has_no_rate_and_hears_nothing_best(self):
        down = self.world.observers[3]
        row = {
            "address": "f4:12:9a:00:20:01",
            "identities": [f"{UUID}/9/9"],
            "advertsPerSecond": 1,
            "lastHeard": support.now(),
            "registered": False,
        }
        levels = {down: -40, self.world.observers[5]: -70}
        self.world.heard_rows = lambda _: [row | {"observer": id, "rssi": rssi} for id, rssi in levels.items()]
        self.open("things?show=unknown")
        support.expect(self.rows().nth(1)).to_contain_text("−70 dBm")
        support.expect(self.rows().nth(1)).not_to_contain_text(down)
        rows = self.world.observer_rows()
        self.world.observer_rows = lambda: [row | {"advertsPerSecond": 7.5} for row in rows]
        self.open("gateways")
        table = self.page.get_by_role("table", name="Gateways", exact=True)
        support.expect(table.get_by_role("row").filter(has_text=self.world.observers[0])).to_contain_text("7.5/s")
        support.expect(table.get_by_role("row").filter(has_text=down)).not_to_contain_text("/s")

    def test_a_row_opens_the_thing_with_its_reasons(self):
        tag = list(self.world.zone_of)[1]
        self.world.zone_of[tag] = "lobby"
        self.world.move(tag)
        self.open("things?show=tag")
        self.page.get_by_role("link", name="Trolley 2 ").click()
        support.expect(self.page.locator("h1")).to_have_text("Trolley 2")
        support.expect(self.page.get_by_role("heading", name="Why it is there")).to_be_visible()
        support.expect(self.page.locator(".reasons")).to_contain_text("Trolley 2 came to")
        # The mock's words name the identity: the page says the name.
        support.expect(self.page.locator(".reasons p").first).to_contain_text("Trolley 2: zone.")
        support.expect(self.page.locator("svg.chart")).to_be_visible()

    def test_a_tag_is_named(self):
        tag = list(self.world.zone_of)[0]
        self.open("things/" + urllib.parse.quote(tag, safe=""))
        support.expect(self.page.locator("dl.facts").first).to_contain_text("2.93 V")
        self.page.get_by_role("button", name="Rename").click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Name").fill("Wheelchair 4")
        sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.locator("h1")).to_have_text("Wheelchair 4")
        self.assertEqual(self.world.beacon_names[tag], "Wheelchair 4")

    def test_what_a_person_shares_is_seen_allowed_and_revoked(self):
        visitor = next(subject for subject in self.world.fix if "/" not in subject)
        asked = {"subject": visitor, "viewer": "bob", "state": "asked", "accuracy": "zone", "since": support.now()}
        look = {"viewer": "carol", "means": "friends", "accuracy": "full", "count": 3}
        self.world.shares = {visitor: {"bob": asked}}
        self.world.looks = {visitor: [{**look, "since": support.now(), "until": support.now()}]}
        self.open("things/" + urllib.parse.quote(visitor, safe=""))
        table = self.page.get_by_role("table", name="Shared with")
        support.expect(table.get_by_role("row", name="bob")).to_contain_text("asks")
        looks = self.page.get_by_role("table", name="Looks").get_by_role("row", name="carol")
        support.expect(looks).to_contain_text("the list of friends")
        table.get_by_role("button", name="Allow").click()
        support.expect(table.get_by_role("row", name="bob")).to_contain_text("may see")
        share = self.world.shares[visitor]["bob"]
        self.assertEqual((share["state"], share["accuracy"], "until" in share), ("accepted", "zone", False))
        self.page.get_by_role("button", name="Let someone see it").click()
        sheet = self.page.get_by_role("dialog")
        save = sheet.get_by_role("button", name="Let them see it")
        support.expect(save).to_be_disabled()
        sheet.get_by_label("Who").fill("dave")
        sheet.get_by_label("Until").fill("2001-01-01T00:00")
        support.expect(sheet.get_by_text("A time to come.")).to_be_visible()
        sheet.get_by_label("Until").fill("2031-07-01T12:30")
        sheet.get_by_label("They may see").select_option(label="the floor")
        save.click()
        support.expect(table.get_by_role("row", name="dave")).to_contain_text("the floor")
        until = self.page.evaluate("new Date('2031-07-01T12:30').toISOString()")
        share = self.world.shares[visitor]["dave"]
        self.assertEqual((share["state"], share["accuracy"], share["until"]), ("accepted", "floor", until))
        table.get_by_role("row", name="bob").get_by_role("button", name="Revoke").click()
        sheet.get_by_role("button", name="Revoke").click()
        support.expect(table.get_by_role("row", name="bob")).to_have_count(0)
        self.assertEqual(list(self.world.shares[visitor]), ["dave"])

    def test_one_is_notified_when_it_leaves(self):
        tag = list(self.world.zone_of)[1]
        self.world.zone_of[tag] = "lobby"
        self.open("things/" + urllib.parse.quote(tag, safe=""))
        support.expect(self.page.locator("h2").first).to_have_text("Lobby")
        self.page.get_by_role("button", name="Notify me when…").click()
        sheet = self.page.get_by_role("dialog")
        support.expect(sheet.get_by_label("Place")).to_have_value('{"zone":"lobby"}')
        sheet.get_by_role("button", name="Notify me").click()
        support.expect(self.page.get_by_text("notified in this browser when it leaves Lobby")).to_be_visible()
        self.open("status")
        notice = self.page.locator(".notice")
        self.world.emit("zone.enter", tag, {"zone": "lobby", "to": "lobby"}, "beacon")
        self.world.emit("zone.exit", tag, {"zone": "hall", "from": "hall"}, "beacon")
        self.world.emit("zone.exit", list(self.world.zone_of)[2], {"zone": "lobby", "from": "lobby"}, "beacon")
        self.world.emit("zone.exit", tag, {"zone": "lobby", "from": "lobby"}, "beacon")
        support.expect(notice).to_have_text(support.matching("Trolley 2 left Lobby"))
        support.expect(notice).to_have_count(1)
        self.open("things/" + urllib.parse.quote(tag, safe=""))
        self.page.get_by_role("button", name="Stop").click()
        support.expect(self.page.get_by_text("notified in this browser")).to_have_count(0)

    def test_a_stay_that_has_not_ended_is_where_a_person_is(self):
        def visit(place, departure):
            return {
                "subject": "visitor-7",
                "arrivalDate": "2026-01-01T00:00:00Z",
                "departureDate": departure,
                "place": {"kind": "pointOfInterest", "id": "p", "name": place},
            }

        # West of the door, where the venue draws no room.
        self.world.locate("visitor-7", x=-8.0, level=None)
        self.world.visits = [visit("Garden", "4001-01-01T00:00:00Z"), visit("Kiosk", "2026-01-01T01:00:00Z")]
        self.open("things?show=person")
        row = self.page.get_by_role("row", name="visitor-7")
        support.expect(row).to_contain_text("Garden")
        self.world.visits = [visit("Garden", "2026-01-01T02:00:00Z"), visit("Kiosk", "2026-01-01T01:00:00Z")]
        support.expect(row).to_contain_text("outdoors")

    def test_a_person_is_named_here_and_a_tag_of_the_site_file_there(self):
        rename = self.page.get_by_role("button", name="Rename")
        tag = list(self.world.zone_of)[1]
        self.world.site_beacons.add(tag)
        self.open("things/" + urllib.parse.quote(tag, safe=""))
        support.expect(self.page.locator(".facts")).to_contain_text("Tag")
        support.expect(rename).to_be_disabled()
        support.expect(rename).to_have_attribute("title", support.matching("site file"))
        self.open("things/visitor-7")
        rename.click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Name").fill("Ann")
        sheet.get_by_role("button", name="Save").click()
        support.expect(sheet).to_have_count(0)
        self.assertEqual(self.world.named, {"visitor-7": {"name": "Ann"}})
        # Nothing is stored of the visitor in the mock.
        self.visit.forgive("404")

    def test_a_text_that_a_spreadsheet_would_compute_stays_a_text(self):
        self.page.goto(self.mock.base)
        text = self.page.evaluate(
            """async () => (await import('/assets/files.js')).csvOf(
              [['name', (row) => row[0]], ['level', (row) => row[1]]], [['=1+1', -60], ['a "b", c', undefined]])"""
        )
        self.assertEqual(text, "name,level\r\n'=1+1,-60\r\n\"a \"\"b\"\", c\",\r\n")


class RoomsAndGateways(support.MockTest):
    """A site made on the dashboard: two rooms, three gateways and a handset."""

    GATEWAYS = ["ac:23:3f:a0:00:61", "ac:23:3f:a0:00:62", "ac:23:3f:a0:00:63"]

    mocked = {"empty": True}

    def setUp(self):
        super().setUp()
        world = self.world
        first, second, third = self.GATEWAYS
        world.named = {first: {"name": "Door"}, second: {"name": "Window"}}
        world.made_zones = {
            "hall": {"name": "Hall", "observers": [first, second], "adjacent": ["cellar"]},
            "cellar": {"name": "Cellar", "observers": [third], "floor": -1},
        }

        def observers():
            rows = [{"id": identity, "listed": True, "isUp": True} for identity in self.GATEWAYS]
            rows += [{"id": "7d1c2f3e-0000-4000-8000-000000000001", "listed": False, "isUp": True}]
            at = "2026-01-01T00:00:00Z"
            return [{**row, "name": world.named.get(row["id"], {}).get("name"), "lastHeard": at} for row in rows]

        world.observer_rows = observers

    def test_a_room_is_renamed_and_keeps_the_rest(self):
        self.open("rooms")
        self.page.get_by_role("button", name="Change Cellar").click()
        sheet = self.page.get_by_role("dialog")
        boxes = sheet.get_by_role("checkbox")
        support.expect(boxes).to_have_count(3)
        sheet.get_by_label("Room").fill("Wine cellar")
        sheet.get_by_label("Window").check()
        sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.get_by_role("link", name="Wine cellar")).to_be_visible()
        observers = [self.GATEWAYS[1], self.GATEWAYS[2]]
        room = {"name": "Wine cellar", "observers": observers, "floor": -1, "adjacent": []}
        self.assertEqual(self.world.made_zones["cellar"], room)

    def test_a_room_is_added_under_a_plain_identifier(self):
        self.open("rooms")
        self.page.get_by_role("button", name="Add room").click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Room").fill("Théâtre 1")
        support.expect(sheet.get_by_role("button", name="Save")).to_be_disabled()
        sheet.get_by_label("Door").check()
        sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.get_by_role("link", name="Théâtre 1")).to_be_visible()
        self.assertEqual(self.world.made_zones["theatre-1"], {"name": "Théâtre 1", "observers": [self.GATEWAYS[0]]})

    def test_what_depends_on_a_room_is_named_before_it_goes(self):
        self.open("rooms")
        self.page.get_by_role("button", name="Remove Cellar").click()
        sheet = self.page.get_by_role("dialog")
        support.expect(sheet).to_contain_text("It is no longer next to Hall.")
        sheet.get_by_role("button", name="Remove room").click()
        support.expect(self.page.get_by_role("link", name="Cellar")).to_have_count(0)
        self.assertEqual(list(self.world.made_zones), ["hall"])
        self.assertEqual(self.world.made_zones["hall"].get("adjacent", []), [])

    def test_a_gateway_is_named_and_moved(self):
        self.open("gateways")
        support.expect(self.page.get_by_role("heading", name="3 of 3 gateways up")).to_be_visible()
        self.page.get_by_role("button", name=f"Change {self.GATEWAYS[2]}").click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Room").select_option("hall")
        support.expect(sheet.get_by_text("moves out of Cellar. Cellar has no other gateway and is removed.")).to_be_visible()
        sheet.get_by_label("Room").select_option("cellar")
        sheet.get_by_label("Name").fill("Stairs")
        sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.get_by_role("link", name="Stairs")).to_be_visible()
        self.assertEqual(self.world.named[self.GATEWAYS[2]], {"name": "Stairs"})
        self.page.get_by_role("button", name="Change Window").click()
        sheet.get_by_label("Room").select_option("cellar")
        sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.get_by_role("row", name="Window")).to_contain_text("Cellar")
        self.assertEqual(self.world.made_zones["hall"]["observers"], [self.GATEWAYS[0]])
        self.assertEqual(self.world.made_zones["cellar"]["observers"], [self.GATEWAYS[2], self.GATEWAYS[1]])

    def test_a_gateway_that_goes_takes_the_room_that_it_alone_heard(self):
        self.open("gateways")
        self.page.get_by_role("button", name=f"Remove {self.GATEWAYS[2]}").click()
        sheet = self.page.get_by_role("dialog")
        support.expect(sheet).to_contain_text("Cellar has no other gateway: the room is removed too.")
        sheet.get_by_role("button", name="Remove gateway").click()
        support.expect(self.page.get_by_text(f"{self.GATEWAYS[2]} was removed.")).to_be_visible()
        self.assertEqual(list(self.world.made_zones), ["hall"])
        # Only its room had known it.
        self.visit.forgive("404")

    def test_what_the_pages_do_not_show_is_not_lost(self):
        hidden = {"beacons": [{"uuid": "X"}], "occupancy": [{"above": 5, "below": 3}]}
        self.world.made_zones["hall"] |= hidden
        self.open("rooms")
        self.page.get_by_role("button", name="Change Hall").click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Room").fill("Great hall")
        sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.get_by_role("link", name="Great hall")).to_be_visible()
        room = self.world.made_zones["hall"]
        self.assertEqual((room["name"], {key: room[key] for key in hidden}), ("Great hall", hidden))

    def test_rooms_of_the_site_file_are_changed_there(self):
        self.world.made_zones["hall"]["source"] = "site"
        self.open("rooms")
        for action in ("Change Hall", "Remove Hall"):
            button = self.page.get_by_role("button", name=action)
            support.expect(button).to_be_disabled()
            support.expect(button).to_have_attribute("title", support.matching("site file"))
        support.expect(self.page.get_by_role("button", name="Change Cellar")).to_be_enabled()
