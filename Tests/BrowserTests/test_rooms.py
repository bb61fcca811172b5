"""What an owner does to names and rooms, and takes back: against the mock server."""

import support
from test_first_run import gateway

GATEWAYS = [f"ac:23:3f:a0:00:{number}" for number in (61, 62, 63)]
UUID = "7C3B1F0E-52D4-4A86-9E61-3D0A5B7C9F21"


class OwnRooms(support.MockTest):
    """A site of two rooms and three gateways, all made over HTTP, with tags that stand still."""

    mocked = {"empty": True}

    def setUp(self):
        super().setUp()
        self.world.observers = list(GATEWAYS)
        first, second, third = GATEWAYS
        self.world.made_zones = {
            "hall": {"name": "Hall", "observers": [first, second], "adjacent": ["cellar"]},
            "cellar": {"name": "Cellar", "observers": [third], "adjacent": ["hall"], "floor": -1},
        }
        self.world.observer_rows = lambda: [
            gateway(identity, listed=True)
            | {"lastHeard": support.now(), "name": self.world.named.get(identity, {}).get("name")}
            for identity in GATEWAYS
        ]
        for number in (10, 9, 1):
            beacon = f"{UUID}/40/{number}"
            self.world.zone_of[beacon] = "hall"
            self.world.since[beacon] = self.world.started
        self.world.name_of_tag = lambda _, beacon: self.world.beacon_names.get(beacon)

    @property
    def sheet(self):
        return self.page.get_by_role("dialog")

    @property
    def notice(self):
        return self.page.locator(".notice")

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def undo(self):
        self.notice.get_by_role("button", name="Undo").click()

    def name(self, text):
        self.press("Rename")
        self.sheet.get_by_label("Name").fill(text)
        self.sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.locator("h1")).to_have_text(text)

    def test_a_name_can_be_taken_back_and_that_undone(self):
        beacon = f"{UUID}/40/1"
        self.open(f"things/{UUID}%2F40%2F1")
        support.expect(self.page.locator("h1")).to_have_text("Tag 40/1")
        self.name("Bed 7")
        self.name("Bed 8")
        self.page.locator(".notice", has_text="Bed 8").get_by_role("button", name="Undo").click()
        support.expect(self.page.locator("h1")).to_have_text("Bed 7")
        self.press("Rename")
        self.sheet.get_by_role("button", name="Take the name back").click()
        support.expect(self.page.locator("h1")).to_have_text("Tag 40/1")
        self.assertIsNone(self.world.beacon_names[beacon])
        self.page.locator(".notice", has_text="Bed 7 is no longer a name").get_by_role("button", name="Undo").click()
        support.expect(self.page.locator("h1")).to_have_text("Bed 7")
        self.visit.forgive("404")

    def test_two_things_of_one_name_are_pointed_out(self):
        self.world.beacon_names = {f"{UUID}/40/9": "Bed 7"}
        self.open("things")
        support.expect(self.page.get_by_role("link", name="Bed 7")).to_be_visible()
        self.page.get_by_role("link", name="Tag 40/1 Tag").click()
        self.press("Rename")
        self.sheet.get_by_label("Name").fill("bed 7")
        support.expect(self.sheet.get_by_text("Something else has this name.")).to_be_visible()
        self.sheet.get_by_role("button", name="Save").click()
        support.expect(self.sheet).to_have_count(0)
        self.page.go_back()
        support.expect(self.page.get_by_text("2 have this name")).to_have_count(2)
        self.open("rooms")
        self.press("Change Cellar")
        self.sheet.get_by_label("Room").fill("HALL")
        support.expect(self.sheet.get_by_text("Another room has this name. Merge makes one room of two.")).to_be_visible()
        self.sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.get_by_text("another room has this name")).to_have_count(2)
        self.visit.forgive("404")

    def test_a_removed_room_comes_back_as_it_was(self):
        before = {key: dict(zone) for key, zone in self.world.made_zones.items()}
        self.world.notifications = {"default": {"hello": {"id": "hello", "zone": "hall", "on": "enter", "text": "Hello"}}}
        self.world.applications["default"] = {"source": "http", "purpose": "", "regionLimit": 20, "regions": {}}
        self.world.made_zones["cellar"]["observers"] = before["cellar"]["observers"] = [GATEWAYS[2], GATEWAYS[1]]
        self.open("rooms")
        self.press("Remove Hall")
        # The second gateway is in the other room too: it does not lose its last one.
        support.expect(self.sheet).to_contain_text(f"{GATEWAYS[0]} will belong to no room.")
        support.expect(self.sheet).to_contain_text("It is no longer next to Cellar.")
        support.expect(self.sheet).to_contain_text("1 notification about it will never fire.")
        self.sheet.get_by_role("button", name="Remove room").click()
        support.expect(self.page.get_by_text("Hall was removed.")).to_be_visible()
        self.assertEqual(self.world.made_zones["cellar"]["adjacent"], [])
        self.undo()
        support.expect(self.page.get_by_text("Hall is back.")).to_be_visible()
        support.expect(self.page.get_by_role("link", name="Hall")).to_be_visible()
        self.assertEqual(self.world.made_zones, before)

    def test_two_rooms_become_one_and_two_again(self):
        before = {key: dict(zone) for key, zone in self.world.made_zones.items()}
        self.open("rooms")
        self.press("Merge Cellar")
        support.expect(self.sheet).to_contain_text(f"Hall is then heard by {GATEWAYS[0]}, {GATEWAYS[1]} and {GATEWAYS[2]}")
        self.sheet.get_by_role("button", name="Merge").click()
        support.expect(self.page.get_by_text("Cellar is part of Hall now.")).to_be_visible()
        self.assertEqual(self.world.made_zones, {"hall": {"name": "Hall", "observers": GATEWAYS, "adjacent": []}})
        self.undo()
        support.expect(self.page.get_by_text("Cellar is a room of its own again.")).to_be_visible()
        self.assertEqual(self.world.made_zones, before)
        self.visit.forgive("404")

    def test_what_changes_several_rooms_is_one_request_and_all_or_nothing(self):
        before = {key: dict(zone) for key, zone in self.world.made_zones.items()}
        changes = []
        self.page.on("request", lambda sent: changes.append(sent.url) if sent.method != "GET" else None)
        self.page.route("**/v1/zones", self.refuse_changes)
        self.open("rooms")
        self.press("Merge Cellar")
        self.sheet.get_by_role("button", name="Merge").click()
        support.expect(self.sheet.get_by_role("alert")).to_contain_text("The disk is full.")
        self.assertEqual(self.world.made_zones, before)
        self.page.unroute("**/v1/zones")
        self.sheet.get_by_role("button", name="Merge").click()
        support.expect(self.page.get_by_text("Cellar is part of Hall now.")).to_be_visible()
        self.undo()
        support.expect(self.page.get_by_text("Cellar is a room of its own again.")).to_be_visible()
        self.assertEqual(self.world.made_zones, before)
        self.assertEqual([url.split("/v1/")[1] for url in changes], ["zones"] * 3)
        self.visit.forgive("404")
        self.visit.forgive("507")

    @staticmethod
    def refuse_changes(route):
        if route.request.method == "GET":
            return route.continue_()
        problem = '{"title": "Full", "status": 507, "detail": "The disk is full."}'
        return route.fulfill(status=507, content_type="application/problem+json", body=problem)

    def test_a_gateway_moves_from_room_to_room(self):
        self.open("rooms")
        self.press("Change Cellar")
        self.sheet.get_by_label(f"{GATEWAYS[0]}, now in Hall").check()
        support.expect(self.sheet.get_by_text(f"{GATEWAYS[0]} moves out of Hall.")).to_be_visible()
        self.sheet.get_by_role("button", name="Save").click()
        support.expect(self.sheet).to_have_count(0)
        self.assertEqual(self.world.made_zones["hall"]["observers"], [GATEWAYS[1]])
        self.assertEqual(self.world.made_zones["cellar"]["observers"], [GATEWAYS[0], GATEWAYS[2]])
        self.press("Change Hall")
        self.sheet.get_by_label(f"{GATEWAYS[2]}, now in Cellar").check()
        self.sheet.get_by_role("button", name="Save").click()
        support.expect(self.sheet).to_have_count(0)
        self.assertEqual(self.world.made_zones["cellar"]["observers"], [GATEWAYS[0]])
        self.press("Change Hall")
        self.sheet.get_by_label(f"{GATEWAYS[0]}, now in Cellar").check()
        support.expect(self.sheet.get_by_text("Cellar has no other gateway and is removed.")).to_be_visible()
        self.sheet.get_by_role("button", name="Save").click()
        support.expect(self.sheet).to_have_count(0)
        self.assertEqual(list(self.world.made_zones), ["hall"])
        self.assertEqual(sorted(self.world.made_zones["hall"]["observers"]), sorted(GATEWAYS))

    def test_a_room_has_a_page_with_all_that_is_about_it(self):
        self.open("rooms/hall")
        support.expect(self.page.locator("h1")).to_have_text("Hall")
        rows = self.page.get_by_role("table", name="Things in the room").get_by_role("row")
        support.expect(rows).to_have_count(4)
        # Numbers count as numbers.
        for place, name in enumerate(["Tag 40/1", "Tag 40/9", "Tag 40/10"], 1):
            support.expect(rows.nth(place)).to_contain_text(name)
        support.expect(self.page.get_by_role("link", name=GATEWAYS[1])).to_have_attribute(
            "href", "#/gateways/" + GATEWAYS[1].replace(":", "%3A")
        )
        self.press("Change Hall")
        self.sheet.get_by_label("Room").fill("Great hall")
        self.sheet.get_by_role("button", name="Save").click()
        support.expect(self.page.locator("h1")).to_have_text("Great hall")
        rows.nth(1).get_by_role("link").click()
        support.expect(self.page.locator("h1")).to_have_text("Tag 40/1")
        self.open("rooms/hall")
        self.press("Remove Great hall")
        self.sheet.get_by_role("button", name="Remove room").click()
        support.expect(self.page.get_by_text("Great hall was removed.")).to_be_visible()
        support.expect(self.page.locator("h1")).to_have_text("Rooms")
        self.assertEqual(list(self.world.made_zones), ["cellar"])
        self.visit.forgive("404")

    def test_find_and_filters_survive_the_way_back(self):
        self.open("things")
        self.page.get_by_label("Where is").fill("40/1")
        self.page.get_by_label("Room", exact=True).select_option("Hall")
        rows = self.page.get_by_role("table", name="Things").get_by_role("row")
        support.expect(rows).to_have_count(3)
        support.expect(rows.nth(1)).to_contain_text("Tag 40/1")
        rows.nth(1).get_by_role("link").first.click()
        support.expect(self.page.locator("h1")).to_have_text("Tag 40/1")
        self.page.go_back()
        support.expect(self.page.get_by_label("Where is")).to_have_value("40/1")
        support.expect(self.page.get_by_label("Room")).to_have_value("Hall")
        support.expect(rows).to_have_count(3)
        self.visit.forgive("404")

    def test_the_picture_of_rooms_names_opens_and_obeys_the_keyboard(self):
        self.world.beacon_names = {f"{UUID}/40/9": "Bed 7"}
        self.open("overview")
        stage = self.page.get_by_role("group", name="Plan.")
        support.expect(stage).to_be_visible()
        stage.focus()
        said = self.page.locator(".plan [role=status]")
        self.page.keyboard.press("ArrowDown")
        support.expect(said).to_contain_text("Bed 7: Hall")
        self.page.keyboard.press("ArrowDown")
        support.expect(said).to_contain_text("Tag 40/1: Hall")
        self.page.keyboard.press("Escape")
        support.expect(said).to_have_text("")
        self.page.keyboard.press("ArrowRight")
        self.page.keyboard.press("Enter")
        support.expect(self.page.locator("h1")).to_have_text("Bed 7")
        self.open("overview")
        support.expect(self.page.locator("canvas")).to_be_visible()
        self.page.get_by_text("The same in words").click()
        words = self.page.locator(".plan-words")
        support.expect(words.get_by_role("link", name="Hall", exact=True)).to_have_attribute("href", "#/rooms/hall")
        words.get_by_role("link", name="Bed 7").click()
        support.expect(self.page.locator("h1")).to_have_text("Bed 7")
        self.visit.forgive("404")

    def test_a_click_on_the_picture_opens_what_is_there(self):
        self.open("overview")
        canvas = self.page.locator("canvas")
        support.expect(canvas).to_be_visible()
        opened = set()
        # Somewhere on the picture are the head of each room and each tag.
        for x in range(20, 320, 24):
            for y in range(44, 180, 9):
                box = canvas.bounding_box()
                self.page.mouse.move(box["x"] + x, box["y"] + y)
                if "is-over" not in (canvas.get_attribute("class") or ""):
                    continue
                self.page.mouse.click(box["x"] + x, box["y"] + y)
                self.page.wait_for_function("!location.hash.includes('overview')")
                opened.add(self.page.evaluate("location.hash.split('?')[0]"))
                if len(opened) >= 2 and any("things" in page for page in opened):
                    self.visit.forgive("404")
                    return
                self.open("overview")
                support.expect(canvas).to_be_visible()
        self.fail(f"only {opened} were opened")


class Notices(support.BrowserTest):
    """Short notices, at both widths."""

    def test_a_notice_has_its_time_goes_by_itself_and_covers_nothing(self):
        for width in (1440, 390):
            with self.subTest(width=width), support.Mock() as mock, support.Visit(self.browser, width=width) as visit:
                page = visit.page
                page.clock.install()
                page.goto(f"{mock.base}#/things")
                support.expect(page.locator("h1")).to_have_text("Things")
                page.evaluate("import('/assets/dialog.js').then((it) => it.notify('Done.', { link: ['#/rooms', 'See it'] }))")
                notice = page.locator(".notice")
                support.expect(notice).to_contain_text(support.matching(r"Done\. \d\d:\d\d"))
                self.assertEqual(page.evaluate(support.audit("covering()")), [])
                (main, own) = (page.locator("main").bounding_box(), notice.bounding_box())
                isApart = own["x"] + own["width"] <= main["x"] or own["y"] >= main["y"] + main["height"]
                self.assertTrue(isApart, f"{own} lies on {main}")
                page.clock.run_for(6000)
                support.expect(notice).to_have_count(1)
                page.clock.run_for(2000)
                support.expect(notice).to_have_count(0)
                page.evaluate("import('/assets/dialog.js').then((it) => it.notify('Done.', { link: ['#/rooms', 'See it'] }))")
                notice.get_by_role("link", name="See it").click()
                support.expect(page.locator("h1")).to_have_text("Rooms")
                support.expect(notice).to_have_count(0)
                self.assertEqual(visit.errors, [])


class Telephone(support.BrowserTest):
    """The pages at the width of a telephone."""

    def test_the_pages_are_at_the_foot_and_the_rest_behind_more(self):
        with support.Mock() as mock, support.Visit(self.browser, width=390, height=844) as visit:
            page = visit.page
            page.goto(f"{mock.base}#/things")
            nav = page.get_by_role("navigation", name="Pages")
            box = nav.bounding_box()
            self.assertLessEqual(box["height"], 64)
            self.assertAlmostEqual(box["y"] + box["height"], 844, delta=1)
            # What a person came for is near the top: the question.
            self.assertLess(page.get_by_label("Where is").bounding_box()["y"], 260)
            more = nav.get_by_role("button", name="More")
            support.expect(more).to_have_attribute("aria-expanded", "false")
            support.expect(nav.get_by_role("link", name="Webhooks")).to_be_hidden()
            more.click()
            nav.get_by_role("link", name="Webhooks").click()
            support.expect(page.locator("h1")).to_have_text("Webhooks")
            support.expect(more).to_have_attribute("aria-expanded", "false")
            self.assertEqual(visit.errors, [])

    def test_no_word_is_broken_inside(self):
        with support.Mock() as mock, support.Visit(self.browser, width=390) as visit:
            for name in ("overview", "things", "rooms", "gateways", "events", "status", "webhooks", "access"):
                visit.page.goto(f"{mock.base}#/{name}")
                support.expect(visit.page.locator("main .card:visible, main .figures").first).to_be_visible()
                if name in ("things", "rooms", "gateways"):
                    support.expect(visit.page.locator("main tbody tr").first).to_be_visible()
                self.assertEqual(visit.page.evaluate(support.audit("broken()")), [], name)
