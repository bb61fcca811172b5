"""What people do on the pages, against the mock server."""

import json

import support

UUID = "0018B4CC-1937-4981-B893-9D7191B22E35"


class Work(support.MockTest):
    """Adding, accepting, replaying, being refused."""

    mocked = {"moves": 2}

    def test_a_region_is_checked_as_one_types_and_added(self):
        self.open("regions")
        self.page.get_by_role("button", name="Add region").first.click()
        sheet = self.page.get_by_role("dialog")
        save = sheet.get_by_role("button", name="Add region")
        support.expect(save).to_be_disabled()
        sheet.get_by_label("Identifier").fill("exhibit")
        sheet.get_by_label("UUID", exact=True).fill(UUID[:-3])
        support.expect(sheet.get_by_text("29 of 32 digits; 3 to go.")).to_be_visible()
        sheet.get_by_label("UUID", exact=True).fill(UUID.lower().replace("-", ""))
        sheet.get_by_label("Minor").fill("4")
        support.expect(sheet.get_by_text("A minor needs a major.")).to_be_visible()
        support.expect(save).to_be_disabled()
        sheet.get_by_label("Major").fill("3")
        support.expect(save).to_be_enabled()
        save.click()
        support.expect(sheet).to_have_count(0)
        support.expect(self.page.get_by_role("heading", name="exhibit", exact=True)).to_be_visible()
        document = self.mock.world.applications["gallery"]["regions"]["exhibit"]
        self.assertEqual((document["uuid"], document["major"], document["minor"]), (UUID, 3, 4))
        support.expect(self.page.get_by_text("3 of 20 regions")).to_be_visible()

    def test_an_application_says_why_it_gets_less_than_it_might(self):
        self.mock.world.diagnostics["gallery"] = [
            {
                "reason": "observerDown",
                "observers": ["front-desk"],
                "message": "The only observer is down.",
                "expected": "reports or heartbeats of each",
                "remedy": "Check the power and the network of each.",
            }
        ]
        self.open("regions")
        card = self.page.locator("section.card", has=self.page.get_by_role("heading", name="gallery"))
        line = card.get_by_role("list", name="Why something is missing").get_by_role("listitem")
        support.expect(line).to_contain_text("The only observer is down.")
        support.expect(line).to_contain_text("Check the power")
        self.mock.world.diagnostics.clear()
        support.expect(line).to_have_count(0, timeout=15000)

    def test_the_limit_is_shown_and_a_refusal_is_told_in_the_servers_words(self):
        regions = self.mock.world.applications["lost-property"]["regions"]
        for number in range(18):
            regions[f"more-{number}"] = {"uuid": UUID, "major": number, "subject": "beacon", "source": "http"}
        self.open("regions?new=&uuid=" + UUID + "&id=the-20th")
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Application", exact=True).select_option("lost-property")
        support.expect(sheet.get_by_text("19 of 20 regions in use.")).to_be_visible()
        regions["meanwhile"] = {"uuid": UUID, "source": "http"}
        sheet.get_by_role("button", name="Add region").click()
        support.expect(sheet.get_by_role("alert")).to_contain_text("has all 20 regions")
        self.visit.forgive("409")
        sheet.get_by_role("button", name="Cancel").click()
        card = self.page.locator("section.card", has=self.page.get_by_role("heading", name="lost-property"))
        support.expect(card.get_by_role("button", name="Add region").first).to_be_disabled()

    def test_a_region_of_tags_has_no_columns_that_stay_empty(self):
        self.open("regions")

        def heads(name):
            heading = self.page.get_by_role("heading", name=name, exact=True)
            return self.page.locator("section.region", has=heading).locator("th")

        support.expect(heads("museum").filter(has_text="Distance")).to_have_count(1)
        support.expect(heads("trolleys").filter(has_text="RSSI")).to_have_count(1)
        for title in ("Proximity", "Distance", "Nearest beacon"):
            support.expect(heads("trolleys").filter(has_text=title)).to_have_count(0)

    def test_a_region_of_the_site_file_is_left_to_it(self):
        self.open("regions")
        support.expect(self.page.get_by_role("button", name="Change entrance")).to_be_disabled()
        self.page.get_by_role("button", name="Remove trolleys").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Remove region").click()
        support.expect(self.page.get_by_role("heading", name="trolleys", exact=True)).to_have_count(0)
        self.assertEqual(self.mock.world.applications["lost-property"]["regions"], {})

    def test_one_click_leads_from_a_beacon_to_a_region(self):
        self.open("things?show=unknown")
        self.page.get_by_role("link", name=f"Make a region of {UUID}/3/14").click()
        sheet = self.page.get_by_role("dialog")
        support.expect(sheet.get_by_label("UUID", exact=True)).to_have_value(UUID)
        support.expect(sheet.get_by_label("Minor")).to_have_value("14")
        sheet.get_by_label("Identifier").fill("from-the-air")
        sheet.get_by_role("button", name="Add region").click()
        support.expect(self.page.get_by_role("heading", name="from-the-air", exact=True)).to_be_visible()

    def test_a_capture_is_compared_and_its_page_can_be_passed_on(self):
        self.open("compare")
        support.expect(self.page.get_by_text("No comparisons yet")).to_be_visible()
        button = self.page.get_by_role("button", name="Compare", exact=True)
        button.click()
        support.expect(self.page.get_by_text("Choose a file.")).to_be_visible()
        capture = {"name": "lobby.txt", "mimeType": "text/plain", "buffer": b"no capture"}
        self.page.get_by_label("Capture: pcap").set_input_files(capture)
        button.click()
        support.expect(self.page.get_by_text("lobby.txt: not a capture.")).to_be_visible()
        self.visit.forgive("422")
        capture = {"name": "lobby.pcapng", "mimeType": "application/octet-stream", "buffer": b"\n\r\r\n" + bytes(3_000_000)}
        self.page.get_by_label("Capture: pcap").set_input_files(capture)
        self.page.get_by_label("Your rule").fill("20")
        button.click()
        link = self.page.get_by_role("link", name="Open the page")
        support.expect(link).to_have_attribute("href", f"/v1/comparisons/{0:032x}")
        row = self.page.get_by_role("row", name="lobby.pcapng")
        support.expect(row).to_contain_text("Your 20 s rule: 12 exits")
        row.get_by_role("button", name="Drop lobby.pcapng").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Drop").click()
        support.expect(row).to_have_count(0)

    def test_an_hour_is_recorded_and_compared_with_an_edited_site(self):
        self.open("compare")
        support.expect(self.page.get_by_text("Nothing is recorded.")).to_be_visible()
        self.page.get_by_role("button", name="Record an hour and compare").click()
        bar = self.page.get_by_role("progressbar", name="Recorded")
        support.expect(bar).to_be_visible()
        support.expect(self.page.get_by_text("of 1 h 0 min, 2.5 MB.")).to_be_visible()
        self.assertEqual(len(self.mock.world.recordings), 1)
        self.page.get_by_text("Edit the site to compare with").click()
        site = self.page.get_by_label("The edited site")
        support.expect(site).to_have_value(self.mock.world.site)
        site.fill("applications: {}\n")
        # It ends on the server while the page is open.
        self.mock.world.end_recording(self.mock.world.recordings[0])
        support.expect(self.page.get_by_text("no zones")).to_be_visible(timeout=15_000)
        support.expect(bar).to_be_hidden()
        self.visit.forgive("422")
        site.fill("zones: []\n")
        self.page.get_by_role("button", name="Compare the recording").click()
        support.expect(self.page.get_by_role("status").filter(has_text="Pharos, site edited: 2 exits.")).to_be_visible()
        link = self.page.get_by_role("link", name="Open the page")
        support.expect(link).to_have_attribute("href", f"/v1/comparisons/{0:032x}")
        support.expect(self.page.get_by_role("row", name="recording of")).to_contain_text("Your 30 s rule")
        self.page.get_by_role("button", name="Drop the recording").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Drop").click()
        support.expect(self.page.get_by_text("Nothing is recorded.")).to_be_visible()
        self.assertEqual(self.mock.world.recordings, [])

    def test_who_hears_a_beacon_is_counted_by_observer(self):
        def hearing(observer, address, rssi):
            return {
                "observer": observer,
                "address": address,
                "identities": [f"{UUID}/9/9"],
                "rssi": rssi,
                "advertsPerSecond": 1,
                "lastHeard": "2026-01-01T00:00:00Z",
                "registered": False,
            }

        addresses = [f"f4:12:9a:00:20:{number:02x}" for number in range(20)]
        self.mock.world.heard_rows = lambda _: [
            hearing(observer, address, rssi)
            for observer, rssi in (("hall", -50), ("yard", -60), ("roof", -70))
            for address in addresses
        ]
        self.open("things?show=unknown")
        support.expect(self.page.get_by_text("Great hall and 2 more", exact=True)).to_be_visible()

    def test_a_new_region_is_about_what_the_others_are_about(self):
        for application in self.mock.world.applications.values():
            for region in application["regions"].values():
                region["subject"] = "beacon"
        self.open("things?show=unknown")
        self.page.get_by_role("link", name=f"Make a region of {UUID}/3/14").click()
        subject = self.page.get_by_role("dialog").get_by_label("Whose state is it")
        support.expect(subject).to_have_value("beacon")
        for application in self.mock.world.applications.values():
            for region in application["regions"].values():
                region["subject"] = "observer"
        self.page.reload()
        support.expect(subject).to_have_value("observer")

    def test_the_quarantine_is_left_by_a_button(self):
        self.open("gateways")
        self.page.get_by_role("button", name="Accept ac:23:3f:ff:00:99").click()
        support.expect(self.page.get_by_role("heading", name="Waiting to be accepted")).to_be_hidden()
        self.assertEqual(self.mock.world.accepted, {"ac:23:3f:ff:00:99"})

    def test_an_event_is_explained(self):
        number = self.mock.world.emit(
            "region.exit",
            "handset-3",
            {
                "application": "gallery",
                "region": "entrance",
                "from": "inside",
                "to": "outside",
                "duration": 93.0,
                "evidence": {
                    "rule": "adaptiveSilence",
                    "gap": 6.2,
                    "allowedGap": 6.2,
                    "lastHeard": "2026-01-01T00:00:00Z",
                    "fixedRuleAt": "2026-01-01T00:00:30Z",
                },
            },
        )
        self.open(f"events/{number}")
        detail = self.page.locator(".detail")
        support.expect(detail.get_by_text("The handset left entrance")).to_be_visible()
        support.expect(detail.locator("svg.timeline")).to_be_visible()
        support.expect(detail.get_by_text("a silence too long for this beacon")).to_be_visible()

    def test_names_from_the_air_are_never_markup(self):
        hostile = "<img src=/nothing onerror=document.title='run'>"
        self.mock.world.heard_rows = lambda _: [
            {
                "observer": hostile,
                "address": "f4:12:9a:00:10:01",
                "identities": [f"{UUID}/1/1"],
                "name": hostile,
                "rssi": -60,
                "advertsPerSecond": 1,
                "lastHeard": "2026-01-01T00:00:00Z",
                "registered": False,
            }
        ]
        self.mock.world.emit(
            "region.enter",
            hostile,
            {
                "application": hostile,
                "region": hostile,
                "from": "outside",
                "to": "inside",
                "evidence": {"rule": hostile},
            },
        )
        self.open("things?show=unknown")
        support.expect(self.page.get_by_text(hostile).first).to_be_visible()
        self.open("events")
        self.page.get_by_text(f"{hostile} entered").click()
        support.expect(self.page.locator(".detail dl")).to_be_visible()
        self.assertEqual(self.page.locator("main img").count(), 0)
        self.assertNotEqual(self.page.title(), "run")

    def test_dead_letters_are_sent_again_and_a_new_secret_is_shown_once(self):
        self.open("webhooks")
        self.page.get_by_text("2 events given up").click()
        self.page.get_by_role("button", name="Send all again").click()
        support.expect(self.page.get_by_text("2 events given up")).to_be_hidden()
        self.page.get_by_role("button", name="Add webhook").first.click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Address").fill("https://example.org/hook")
        sheet.get_by_role("button", name="Add webhook").click()
        support.expect(self.page.locator("#secret")).to_contain_text("whsec_")
        self.page.get_by_role("button", name="I have kept it").click()
        support.expect(self.page.locator("#secret")).to_have_count(0)

    def test_a_notification_is_added_changed_and_removed(self):
        self.open("notifications")
        self.page.get_by_role("button", name="Add notification").click()
        sheet = self.page.get_by_role("dialog")
        save = sheet.get_by_role("button", name="Add notification")
        support.expect(save).to_be_disabled()
        sheet.get_by_label("Identifier").fill("hello")
        sheet.get_by_label("Text").fill("Welcome, {name}!")
        sheet.get_by_label("At most once in").fill("1 h")
        support.expect(save).to_be_disabled()
        sheet.get_by_label("At most once in").fill("1h")
        sheet.get_by_label("Quiet from").fill("22:00")
        support.expect(sheet.get_by_text("Quiet hours have a begin and an end.")).to_be_visible()
        sheet.get_by_label("Quiet until").fill("07:00")
        save.click()
        support.expect(self.page.get_by_text("Welcome, {name}!")).to_be_visible()
        rule = self.mock.world.notifications["gallery"]["hello"]
        self.assertEqual((rule["region"], rule["on"], rule["atMostOncePer"]), ("entrance", "enter", "1h"))
        self.assertEqual((rule["quietHours"]["from"], rule["quietHours"]["to"]), ("22:00", "07:00"))
        self.page.get_by_role("button", name="Change hello").click()
        sheet.get_by_label("Text").fill("Hello, {name}!")
        sheet.get_by_role("button", name="Save changes").click()
        support.expect(self.page.get_by_text("Hello, {name}!")).to_be_visible()
        self.page.get_by_role("button", name="Change hello").click()
        sheet.get_by_label("Room or region").select_option(label="Lobby")
        sheet.get_by_role("button", name="Save changes").click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["hello"]
        self.assertEqual((rule["zone"], rule.get("region")), ("lobby", None))
        self.page.get_by_role("button", name="Remove hello").click()
        sheet.get_by_role("button", name="Remove rule").click()
        support.expect(self.page.get_by_text("No notifications")).to_be_visible()

    def test_rules_begin_on_the_page_of_a_room_and_of_a_gateway(self):
        sheet = self.page.get_by_role("dialog")
        save = sheet.get_by_role("button", name="Add notification")
        self.open("history/zone/lobby")
        self.page.get_by_role("button", name="Notify me when…").click()
        support.expect(sheet.get_by_label("Whenever").locator("option")).to_have_count(2)
        sheet.get_by_label("Whenever").select_option(label="someone leaves")
        sheet.get_by_label("Who or what").select_option(index=1)
        save.click()
        support.expect(sheet).to_have_count(0)
        (rule,) = self.mock.world.notifications["gallery"].values()
        self.assertEqual((rule["zone"], rule["on"]), ("lobby", "exit"))
        self.assertTrue(rule["subject"])
        gateway = self.page.evaluate("fetch('/v1/observers').then((answer) => answer.json())")["observers"][0]["id"]
        self.page.goto(f"{self.mock.base}#/history/observer/{gateway}")
        self.page.get_by_role("button", name="Notify me when…").click()
        support.expect(sheet.get_by_label("Room or region")).to_be_hidden()
        sheet.get_by_label("If it still lasts after").fill("5m")
        save.click()
        support.expect(sheet).to_have_count(0)
        _, rule = self.mock.world.notifications["gallery"].values()
        self.assertEqual((rule["on"], rule["subject"], rule["onlyIfStillInsideAfter"]), ("offline", gateway, "5m"))
        self.assertNotIn("zone", rule)

    def test_each_occasion_that_the_sheet_knows_is_changed_and_the_rest_is_kept(self):
        low = {"id": "low", "on": "lowBattery", "text": "{name}", "belowMillivolts": 2500, "title": "Battery"}
        gate = {"id": "gate", "on": "proximity", "region": "entrance", "text": "{beacon}"}
        self.mock.world.notifications = {"gallery": {"low": low, "gate": gate}}
        self.open("notifications")
        self.page.get_by_role("button", name="Change low").click()
        sheet = self.page.get_by_role("dialog")
        save = sheet.get_by_role("button", name="Save changes")
        support.expect(sheet.get_by_label("Below (mV)")).to_have_value("2500")
        sheet.get_by_label("Below (mV)").fill("25")
        support.expect(save).to_be_disabled()
        sheet.get_by_label("Below (mV)").fill("2600")
        save.click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["low"]
        self.assertEqual((rule["belowMillivolts"], rule["title"]), (2600, "Battery"))
        self.page.get_by_role("button", name="Change low").click()
        sheet.get_by_label("Whenever").select_option(label="someone ends a visit")
        support.expect(sheet.get_by_label("Below (mV)")).to_be_hidden()
        sheet.get_by_label("Room or place").select_option(label="Lobby")
        save.click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["low"]
        self.assertEqual((rule["on"], rule["zone"], "belowMillivolts" in rule), ("depart", "lobby", False))

    def test_a_rule_about_closeness_to_a_beacon_is_made_and_changed(self):
        beacon = next(row for row in self.mock.world.beacon_rows() if row.get("name"))
        uuid, major, minor = beacon["id"].split("/")
        self.mock.world.ranging = {"gallery": [{"name": "tags", "source": "site", "uuid": uuid, "major": int(major)}]}
        self.open("notifications")
        self.page.get_by_role("button", name="Add notification").click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Identifier").fill("commentary")
        sheet.get_by_label("Whenever").select_option(label="someone is close to a beacon")
        support.expect(sheet.get_by_label("Room or region")).to_be_hidden()
        support.expect(sheet.get_by_text("Filled in: {name}, {title} and {description}.")).to_be_visible()
        sheet.get_by_label("Beacon", exact=True).select_option(label=beacon["name"])
        sheet.get_by_label("How close").select_option(label="near it: three metres")
        sheet.get_by_label("Title").fill("{title}")
        sheet.get_by_label("Text").fill("{description}")
        sheet.get_by_label("If it still lasts after").fill("5s")
        sheet.get_by_role("button", name="Add notification").click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["commentary"]
        self.assertEqual((rule["on"], rule["beacon"], rule["proximity"]), ("proximity", beacon["id"], "near"))
        self.assertEqual((rule["title"], rule["onlyIfStillInsideAfter"]), ("{title}", "5s"))
        rule["oncePer"] = "beacon"
        support.expect(self.page.get_by_text(f"is near {beacon['name']}", exact=True)).to_be_visible()
        support.expect(self.page.get_by_text("after 5s")).to_be_visible()
        self.page.get_by_role("button", name="Change commentary").click()
        support.expect(sheet.get_by_label("How close")).to_have_value("near")
        sheet.get_by_label("Beacon", exact=True).select_option(label=f"any of {uuid[:8]}… {major}/* (gallery)")
        sheet.get_by_label("How close").select_option(label="right beside it: half a metre")
        sheet.get_by_role("button", name="Save changes").click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["commentary"]
        self.assertEqual((rule["beacon"], rule["proximity"]), (f"{uuid}/{major}/*", "immediate"))
        self.assertEqual((rule["oncePer"], "region" in rule), ("beacon", False))

    def test_a_rule_about_eddystone_beacons_speaks_once_for_each(self):
        namespace = "00112233445566778899"
        asked = {"name": "tags", "source": "site", "namespace": namespace}
        self.mock.world.ranging = {"gallery": [asked, {**asked, "instance": "00000000002a"}]}
        self.open("notifications")
        self.page.get_by_role("button", name="Add notification").click()
        sheet = self.page.get_by_role("dialog")
        sheet.get_by_label("Identifier").fill("tag")
        sheet.get_by_label("Whenever").select_option(label="a battery is low")
        support.expect(sheet.get_by_label("How often")).to_be_hidden()
        sheet.get_by_label("Whenever").select_option(label="someone is close to a beacon")
        some = sheet.get_by_label("Beacon", exact=True)
        some.select_option(label="any of Eddystone 00112233… * (gallery)")
        sheet.get_by_label("How often").select_option(label="once for each beacon")
        sheet.get_by_label("Text").fill("{beacon}")
        sheet.get_by_role("button", name="Add notification").click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["tag"]
        self.assertEqual((rule["beacon"], rule["oncePer"]), (f"eddystone:{namespace}/*", "beacon"))
        self.page.get_by_role("button", name="Change tag").click()
        support.expect(sheet.get_by_label("How often")).to_have_value("beacon")
        some.select_option(label="any of Eddystone 00112233… 00000000002a (gallery)")
        sheet.get_by_label("How often").select_option(label="each time")
        sheet.get_by_role("button", name="Save changes").click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["tag"]
        self.assertEqual((rule["beacon"], "oncePer" in rule), (f"eddystone:{namespace}/00000000002a", False))

    def test_a_rule_about_the_beacons_of_a_region_stays_about_them(self):
        rule = {"id": "gate", "on": "proximity", "region": "entrance", "proximity": "far", "text": "{beacon}"}
        self.mock.world.notifications = {"gallery": {"gate": rule}}
        self.open("notifications")
        self.page.get_by_role("button", name="Change gate").click()
        sheet = self.page.get_by_role("dialog")
        support.expect(sheet.get_by_label("Beacon", exact=True).locator("option:checked")).to_have_text(
            "the beacons of entrance"
        )
        sheet.get_by_label("Text").fill("{minor}")
        sheet.get_by_role("button", name="Save changes").click()
        support.expect(sheet).to_have_count(0)
        changed = self.mock.world.notifications["gallery"]["gate"]
        self.assertEqual((changed["region"], changed["proximity"], changed["text"]), ("entrance", "far", "{minor}"))

    def test_a_rule_about_an_appointment_is_made_and_changed(self):
        self.mock.world.fix_rate = 1
        self.open("notifications")
        self.page.get_by_role("button", name="Add notification").click()
        sheet = self.page.get_by_role("dialog")
        save = sheet.get_by_role("button", name="Add notification")
        sheet.get_by_label("Identifier").fill("gate-7")
        sheet.get_by_label("Whenever").select_option(label="it is time to leave")
        sheet.get_by_label("Text").fill("Leave now for {place}: {walk} min to walk.")
        support.expect(sheet.get_by_text("Where one has to be, as the map names it.")).to_be_visible()
        support.expect(sheet.locator("datalist option")).to_have_count(3)
        sheet.get_by_label("Place", exact=True).fill("Café")
        support.expect(sheet.get_by_text("An appointment is that of one person or thing.")).to_be_visible()
        support.expect(save).to_be_disabled()
        sheet.get_by_label("Who or what").select_option(index=1)
        sheet.get_by_label("At", exact=True).fill("2031-07-01T12:30")
        sheet.get_by_label("Time to spare").fill("10m")
        sheet.get_by_label("Without steps").check()
        save.click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["gate-7"]
        instant = self.page.evaluate("new Date('2031-07-01T12:30').toISOString()")
        wanted = {"place": "Café", "time": instant, "margin": "10m", "accessible": True}
        self.assertEqual((rule["on"], rule["appointment"]), ("deadline", wanted))
        self.assertTrue(rule["subject"])
        self.assertEqual({"region", "zone", "beacon", "proximity"} & set(rule), set())
        self.page.get_by_role("button", name="Change gate-7").click()
        support.expect(sheet.get_by_label("At", exact=True)).to_have_value("2031-07-01T12:30")
        sheet.get_by_label("At", exact=True).fill("2031-07-01T13:00")
        sheet.get_by_label("Without steps").uncheck()
        sheet.get_by_role("button", name="Save changes").click()
        support.expect(sheet).to_have_count(0)
        rule = self.mock.world.notifications["gallery"]["gate-7"]
        instant = self.page.evaluate("new Date('2031-07-01T13:00').toISOString()")
        self.assertEqual(rule["appointment"], {"place": "Café", "time": instant, "margin": "10m"})

    def test_this_browser_is_notified_while_no_page_is_open(self):
        # The worker is the real one; the push service is none, since there is no network.
        self.page.add_init_script(
            """let made = null;
            PushManager.prototype.getSubscription = async () => made;
            PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
              const keys = { p256dh: applicationServerKey, auth: "auth" };
              made = {
                endpoint: "https://example.org/push/1",
                toJSON: () => ({ endpoint: made.endpoint, keys }),
                unsubscribe: async () => { made = null; return true; },
              };
              return made;
            };"""
        )
        self.page.context.grant_permissions(["notifications"])
        self.open("notifications")
        self.page.get_by_role("button", name="Notify this browser").click()
        support.expect(self.page.get_by_text("This browser is notified.")).to_be_visible()
        (hook,) = [hook for hook in self.mock.world.webhooks.values() if hook.get("keys")]
        self.assertEqual((hook["url"], hook["keys"]["p256dh"]), ("https://example.org/push/1", "the-public-key"))
        shown = self.page.evaluate(
            """async () => {
              const registration = await navigator.serviceWorker.getRegistration("/assets/push-worker.js");
              return { scope: new URL(registration.scope).pathname, state: registration.active?.state };
            }"""
        )
        self.assertEqual(shown["scope"], "/assets/")
        self.page.get_by_role("button", name="Stop").click()
        support.expect(self.page.get_by_role("button", name="Notify this browser")).to_be_visible()
        self.assertFalse([hook for hook in self.mock.world.webhooks.values() if hook.get("keys")])

    def test_the_worker_shows_what_the_push_service_brings(self):
        self.page.context.grant_permissions(["notifications"])
        self.open("notifications")
        registered = """async () => {
          const registration = await navigator.serviceWorker.register("/assets/push-worker.js");
          while (!registration.active) await new Promise((resolve) => setTimeout(resolve, 10));
        }"""
        self.page.evaluate(registered)
        session = self.page.context.new_cdp_session(self.page)
        found = []
        session.on("ServiceWorker.workerRegistrationUpdated", lambda event: found.extend(event["registrations"]))
        session.send("ServiceWorker.enable")
        while not found:
            self.page.wait_for_timeout(20)
        message = {"id": "e1", "title": "Gate 7", "text": "Leave now.", "link": "https://example.org/"}
        for _ in range(2):
            session.send(
                "ServiceWorker.deliverPushMessage",
                {
                    "origin": self.mock.base.rstrip("/"),
                    "registrationId": found[-1]["registrationId"],
                    "data": json.dumps(message),
                },
            )
        shown = self.page.evaluate(
            """async () => {
              const registration = await navigator.serviceWorker.getRegistration("/assets/push-worker.js");
              for (let turn = 0; turn < 500; turn += 1) {
                const list = await registration.getNotifications();
                if (list.length) return list.map(({ title, body, tag, data }) => [title, body, tag, data.link]);
                await new Promise((resolve) => setTimeout(resolve, 20));
              }
              return [];
            }"""
        )
        self.assertEqual(shown, [["Gate 7", "Leave now.", "e1", "https://example.org/"]])

    def test_an_authorisation_is_changed(self):
        self.open("access")
        self.page.get_by_label("What gallery may learn about handset-7").select_option("denied")
        support.expect(self.page.get_by_text("gallery and handset-7: denied.")).to_be_visible()
        self.assertEqual(self.mock.world.authorisations["gallery"]["handset-7"], "denied")


class Tokens(support.BrowserTest):
    """A server that asks for a token."""

    def test_a_token_is_asked_for_once_and_kept_in_the_tab_alone(self):
        with support.Mock(token="pht_right") as mock, support.Visit(self.browser) as visit:
            page = visit.page
            page.goto(mock.base)
            sheet = page.get_by_role("dialog")
            sheet.get_by_role("textbox", name="Token").fill("pht_wrong")
            sheet.get_by_role("button", name="Use token").click()
            support.expect(page.get_by_text("is not accepted")).to_be_visible()
            page.get_by_role("textbox", name="Token").fill("pht_right")
            page.get_by_role("button", name="Use token").click()
            support.expect(page.locator("canvas")).to_be_visible()
            support.expect(page.locator("#live")).to_contain_text("Live")
            kept = page.evaluate(
                "[sessionStorage.getItem('pharos.token'), JSON.stringify(localStorage), document.cookie]"
            )
            self.assertEqual(kept[0], "pht_right")
            self.assertNotIn("pht_", kept[1] + kept[2])
            visit.forgive("401")
            self.assertEqual(visit.errors, [])

    def test_a_wall_display_keeps_its_token(self):
        with support.Mock(token="pht_right") as mock, support.Visit(self.browser) as visit:
            visit.page.goto(mock.base)
            visit.page.get_by_role("textbox", name="Token").fill("pht_right")
            visit.page.get_by_label("Keep it in this browser").check()
            visit.page.get_by_role("button", name="Use token").click()
            support.expect(visit.page.locator("canvas")).to_be_visible()
            again = visit.context.new_page()
            again.goto(mock.base)
            support.expect(again.locator("canvas")).to_be_visible()
            support.expect(again.get_by_role("dialog")).to_have_count(0)

    def test_who_declines_is_left_in_peace(self):
        with support.Mock(token="pht_right") as mock, support.Visit(self.browser) as visit:
            visit.page.goto(mock.base)
            visit.page.get_by_role("button", name="Not now").click()
            support.expect(visit.page.get_by_text("A token is needed")).to_be_visible()
            support.expect(visit.page.get_by_role("dialog")).to_have_count(0)
            support.expect(visit.page.get_by_role("button", name="Enter token")).to_be_visible()
