"""An owner's first hour with the real server and three gateways, at both widths: each task in a few clicks."""

import tempfile

import support
from test_first_run import Gateway

#: More clicks than this for one task are too many.
MAXIMUM_CLICKS = 4
GATEWAYS = [f"ac:23:3f:a0:00:{number}" for number in (61, 62, 63)]
TAGS = ["Bed 7", "Wheelchair 4", "Pump 12", "Bed 8", "Wheelchair 5"]
ROOMS = ["Ward 3", "Théâtre 1", "Store"]


class Owner(support.BrowserTest):
    """Rooms are named, a tag is found, watched and missed, a gateway dies, and the owner looks back."""

    def setUp(self):
        self.binary = support.pharos_binary()
        if not self.binary or not support.serves_http(self.binary):
            self.skipTest("there is no built server with pages")

    def test_the_tasks_of_the_first_hour_on_a_desk(self):
        self.spend_the_hour(1440)

    def test_the_tasks_of_the_first_hour_on_a_telephone(self):
        self.spend_the_hour(390)

    def spend_the_hour(self, width):
        with (
            tempfile.TemporaryDirectory() as data,
            support.Pharos(self.binary, data, arguments=["--udp", "127.0.0.1:0"], demo=False) as server,
            support.Visit(self.browser, width=width) as visit,
        ):
            self.page = visit.page
            count = "window.clicks = 0; addEventListener('click', () => { window.clicks += 1; }, true);"
            visit.page.add_init_script(count)
            port = server.udp_port()
            gateways = [Gateway(port, identity, levels) for identity, levels in zip(GATEWAYS, self.levels())]
            for gateway in gateways:
                gateway.__enter__()
                self.addCleanup(gateway.__exit__)
            visit.page.goto(server.base)
            self.task("name three rooms", self.name_rooms)
            self.see_no_false_moves(server)
            self.task("rename a room", self.rename_a_room)
            for minor, name in enumerate(TAGS, 1):
                self.task(f"name {name}", lambda minor=minor, name=name: self.name_a_tag(minor, name))
            self.task("take a name back", self.take_a_name_back)
            self.task("merge two rooms, and undo it", self.merge_and_undo)
            self.task("find a tag", self.find_a_tag)
            self.task("be notified", lambda: self.be_notified(gateways))
            self.task("look back", self.look_back)
            self.task("see the dead gateway", lambda: self.see_the_dead_gateway(gateways[2]))
            # Of the first minute nothing is stored of a tag.
            visit.forgive("404")
            self.assertEqual(visit.errors, [])

    @staticmethod
    def levels():
        """Each gateway hears one or two tags well, and the others from afar."""
        numbers = range(1, len(TAGS) + 1)
        return [{minor: -55 if minor % 3 == own % 3 else -85 for minor in numbers} for own in (1, 2, 3)]

    def task(self, name, work):
        before = self.page.evaluate("window.clicks")
        work()
        clicks = self.page.evaluate("window.clicks") - before
        self.assertLessEqual(clicks, MAXIMUM_CLICKS, name)
        print(f"{name}: {clicks} clicks", end="; ", flush=True)

    def go(self, name):
        self.page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True).click()

    def name_rooms(self):
        for identity, room in zip(GATEWAYS, ROOMS):
            field = self.page.get_by_label(f"Room of {identity}")
            support.expect(field).to_be_visible(timeout=30_000)
            field.fill(room)
        self.page.get_by_role("button", name="Make 3 rooms").click()
        support.expect(self.page.get_by_label("Room of")).to_have_count(0)

    def see_no_false_moves(self, server):
        """Each tag comes to one room, and no tag goes from one that was made earlier to its own."""
        tags = self.page.locator(".figure", has_text="Tags in a room")
        support.expect(tags).to_contain_text(f"{len(TAGS)} of {len(TAGS)} tags", timeout=60_000)
        events = [entry["event"] for entry in server.get("/v1/events?kind=zone.enter,zone.exit&limit=100")["events"]]
        self.assertEqual(sorted(event["type"] for event in events), ["pharos.zone.enter"] * len(TAGS))
        self.assertEqual([event["data"].get("from") for event in events], [None] * len(TAGS))

    def take_a_name_back(self):
        self.page.get_by_role("button", name="Rename").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Take the name back").click()
        support.expect(self.page.locator("h1")).to_have_text(f"Tag 40/{len(TAGS)}")

    def merge_and_undo(self):
        self.go("Rooms")
        self.page.get_by_role("button", name="Merge Store room").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Merge").click()
        support.expect(self.page.get_by_role("link", name="Store room")).to_have_count(0)
        self.page.locator(".notice", has_text="Store room").last.get_by_role("button", name="Undo").click()
        support.expect(self.page.get_by_role("link", name="Store room")).to_be_visible()

    def rename_a_room(self):
        self.go("Rooms")
        self.page.get_by_role("button", name="Change Store").click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Room").fill("Store room")
        sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.get_by_role("link", name="Store room")).to_be_visible()

    def name_a_tag(self, minor, name):
        self.go("Things")
        self.page.get_by_label("Where is").fill(f"40/{minor}")
        row = self.page.get_by_role("table", name="Things").get_by_role("row").nth(1)
        support.expect(row).to_contain_text(f"40/{minor}", timeout=30_000)
        row.get_by_role("link").first.click()
        self.page.get_by_role("button", name="Rename").click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Name").fill(name)
        sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.locator("h1")).to_have_text(name)

    def find_a_tag(self):
        self.go("Things")
        self.page.get_by_label("Where is").fill("wheelchair 4")
        row = self.page.get_by_role("table", name="Things").get_by_role("row").nth(1)
        support.expect(row).to_contain_text("Théâtre 1", timeout=30_000)
        row.get_by_role("link").first.click()
        support.expect(self.page.locator("h2").first).to_have_text("Théâtre 1")
        self.page.get_by_role("link", name="Show on map").click()
        support.expect(self.page.locator("canvas")).to_be_in_viewport()
        self.page.go_back()

    def be_notified(self, gateways):
        self.page.get_by_role("button", name="Notify me when…").click()
        self.page.get_by_role("button", name="Notify me", exact=True).click()
        support.expect(self.page.get_by_text("in this browser when it leaves Théâtre 1")).to_be_visible()
        gateways[1].levels[2], gateways[0].levels[2] = -95, -50
        support.expect(self.page.locator(".notice", has_text="Théâtre 1")).to_be_visible(timeout=60_000)

    def look_back(self):
        self.go("Overview")
        self.page.get_by_role("button", name="Look back in time").click()
        support.expect(self.page.locator(".travel [role=status]")).to_have_text(
            support.matching(r"\d things?, as they were then\.|Nothing is stored of this minute\.")
        )
        self.page.get_by_role("button", name="Back to live").click()

    def see_the_dead_gateway(self, gateway):
        gateway.__exit__()
        line = self.page.locator(".troubles li").first
        support.expect(line).to_contain_text("Gateway Store is down since", timeout=120_000)
        support.expect(line).to_contain_text("Store room hears nothing")
