"""The past: timelines of subjects, rooms and observers, small lines in lists, and the way back in time on the floor plan."""

import urllib.parse

import support


def address(*parts):
    pages = {"subject": "things", "zone": "rooms", "region": "regions", "observer": "gateways"}
    return f"#/{pages[parts[0]]}/" + "/".join(urllib.parse.quote(part, safe="") for part in parts[1:])


class History(support.MockTest):
    """A museum of which a day is stored, but for a quarter of an hour in which the server was stopped."""

    mocked = {"tags": 30, "moves": 2, "fixes": 10}
    width = 1440

    def setUp(self):
        super().setUp()
        self.tag = next(iter(self.mock.world.zone_of))

    def test_rooms_and_gateways_have_a_past(self):
        self.page.goto(f"{self.mock.base}#/rooms")
        self.page.get_by_role("link", name="Great hall").click()
        support.expect(self.page.locator("h1")).to_have_text("Great hall")
        support.expect(self.page.get_by_role("img", name="Great hall. At most")).to_be_visible()
        self.page.goto(self.mock.base + address("observer", self.mock.world.observers[3]) + "?range=24h")
        support.expect(self.page.get_by_role("img", name="4 outages")).to_be_visible()
        self.page.get_by_text("The same in words").click()
        outages = self.page.get_by_role("table", name="Outages").get_by_role("row")
        support.expect(outages).to_have_count(5)
        support.expect(outages.nth(2)).to_contain_text("25 min 0 s")

    def test_old_addresses_of_the_history_lead_on(self):
        for old, title in (("history/zone/hall", "Great hall"), ("history", "Things"), ("heard", "Things")):
            self.page.goto(f"{self.mock.base}#/{old}")
            support.expect(self.page.locator("h1")).to_have_text(title)

    def test_a_range_that_is_not_chosen_begins_where_data_begin(self):
        self.page.goto(self.mock.base + address("zone", "hall"))
        support.expect(self.page.get_by_role("button", name="24 h")).to_have_attribute("aria-pressed", "true")
        self.page.evaluate(
            """async () => {
              const { serverNow } = await import('/assets/api.js');
              const real = window.fetch;
              window.fetch = async (path, options) => {
                const answer = await real(path, options);
                if (!String(path).includes('/history/zones/')) return answer;
                const body = await answer.json();
                body.points = body.points.filter((point) => serverNow() - Date.parse(point.time) < 1800000);
                return new Response(JSON.stringify(body), { status: 200 });
              };
              location.hash = '#/rooms/lobby';
            }"""
        )
        support.expect(self.page.get_by_role("button", name="1 h", exact=True)).to_have_attribute("aria-pressed", "true")

    def test_a_timeline_has_bars_a_curve_and_words_for_each_range(self):
        self.page.goto(self.mock.base + address("subject", self.tag) + "?range=6h")
        chart = self.page.locator("svg.chart")
        support.expect(chart).to_have_attribute("aria-label", support.matching(r".*states?, \d+ rooms, \d+ decisions?"))
        support.expect(chart.locator("text.lane", has_text="Room")).to_be_visible()
        for name in ("State", "Nearest", "RSSI"):
            support.expect(chart.locator("text.lane", has_text=name)).to_be_visible()
        # The gap of the stop parts the curve.
        support.expect(chart.locator("path.line")).to_have_count(2)
        titles = chart.locator("rect.run title").all_text_contents()
        self.assertTrue({"Lobby", "inside"} & set(titles), titles)
        self.page.get_by_text("The same in words").click()
        table = self.page.get_by_role("table", name="What stayed the same")
        support.expect(table.get_by_role("row").nth(1)).to_contain_text("dBm")
        with self.page.expect_response("**/v1/history/subjects/**") as answer:
            self.page.get_by_role("button", name="24 h").click()
        self.assertEqual(answer.value.status, 200)
        support.expect(self.page).to_have_url(support.matching(".*range=24h"))
        support.expect(chart.locator("text.axis-text", has_text="dBm").first).to_be_visible()

    def test_any_range_can_be_entered_and_stays_in_the_address(self):
        self.page.goto(self.mock.base + address("subject", self.tag) + "?range=6h")
        start, end = self.page.get_by_label("From"), self.page.get_by_label("To")
        support.expect(start).to_be_visible()
        support.expect(self.page.locator("svg.chart")).to_be_visible()
        start.fill("2001-02-03T04:00")
        end.fill("2001-02-03T03:00")
        support.expect(end).to_have_attribute("aria-invalid", "true")
        end.fill("2001-02-03T06:00")
        support.expect(self.page.locator(".empty b", has_text="Nothing stored")).to_be_visible()
        support.expect(self.page).to_have_url(support.matching(r".*from=2001-02-03T.*&to=2001-02-03T.*"))
        self.page.reload()
        support.expect(self.page.locator(".detail-split h2").first).to_contain_text("Feb 3")
        support.expect(start).to_have_value("2001-02-03T04:00")

    def test_a_table_for_spreadsheets_can_be_saved(self):
        self.page.goto(self.mock.base + address("zone", "hall") + "?range=1h")
        with self.page.expect_download() as download:
            self.page.get_by_role("button", name="Download CSV").click()
        self.assertEqual(download.value.suggested_filename, "pharos-Great-hall.csv")
        lines = download.value.path().read_text().splitlines()
        self.assertEqual(lines[0], "inside,insideMaximum,minutes,time,unmonitored")
        self.assertGreater(len(lines), 50)

    def test_who_is_not_stored_is_not_found(self):
        self.page.goto(self.mock.base + address("subject", "unknown"))
        support.expect(self.page.locator(".empty", has_text="Nothing is stored of unknown")).to_be_visible()
        self.visit.forgive("404")

    def test_regions_have_lines_of_the_last_hour(self):
        self.page.goto(f"{self.mock.base}#/regions")
        line = self.page.get_by_role("img", name="Subjects inside entrance in the last hour")
        support.expect(line.locator("path")).to_have_count(1)
        level = self.page.get_by_role("img", name="RSSI of handset-1 in the last hour", exact=True).first
        support.expect(level.locator("path")).to_have_count(1)
        self.page.get_by_role("link", name="History of trolleys").click()
        support.expect(self.page.locator("h1")).to_have_text("trolleys")

    def test_the_plan_shows_where_everybody_was_and_returns_to_now(self):
        self.page.goto(f"{self.mock.base}#/overview")
        card = self.page.locator(".card", has=self.page.locator(".floor-stage"))
        live = self.page.get_by_role("img", name="Ground floor:")
        support.expect(live).to_be_visible()
        self.page.get_by_role("button", name="Look back in time").click()
        slider = self.page.get_by_role("slider", name="Time of day")
        support.expect(slider).to_be_focused()
        support.expect(card).to_have_class(support.matching(".*is-past"))
        status = self.page.locator(".travel [role=status]")
        support.expect(status).to_have_text("55 things, as they were then.")
        support.expect(self.page.locator(".floor-stage")).to_have_class(support.matching(".*is-past"))
        before = slider.get_attribute("aria-valuetext")
        with self.page.expect_response("**/v1/history/positions?at=*") as answer:
            self.page.keyboard.press("ArrowLeft")
        self.assertNotEqual(slider.get_attribute("aria-valuetext"), before)
        frame = answer.value.json()["frames"][0]["subjects"]
        ground = [row for row in frame if row.get("level") == 0 and "latitude" in row]
        shown = self.page.get_by_role("img", name=f"Ground floor: {len(ground)} things", exact=True)
        support.expect(shown).to_be_visible()
        # Two seconds of live fixes and the lists' own rhythm change nothing in it.
        self.page.evaluate("new Promise((resolve) => setTimeout(resolve, 2000))")
        support.expect(shown).to_be_visible()
        self.page.get_by_role("button", name="Ten minutes earlier").click()
        support.expect(slider).not_to_have_attribute("aria-valuetext", before)
        self.page.get_by_role("button", name="Rooms", exact=True).click()
        support.expect(self.page.locator(".travel")).to_be_visible()
        self.page.get_by_role("button", name="Back to live").click()
        support.expect(self.page.locator(".travel")).to_be_hidden()
        support.expect(self.page.get_by_role("button", name="Look back in time")).to_be_focused()
        support.expect(self.page.locator(".card.is-past")).to_have_count(0)

    def test_the_way_back_begins_where_data_begin(self):
        self.page.goto(f"{self.mock.base}#/overview")
        support.expect(self.page.get_by_role("img", name="Ground floor:")).to_be_visible()
        first = self.page.evaluate("new Date(Date.now() - 240000).toISOString().slice(0, 17) + '00Z'")
        self.page.evaluate(
            """(first) => {
              const real = window.fetch;
              window.fetch = async (path, options) => {
                if (!String(path).includes('/v1/history/subjects?limit=3&')) return real(path, options);
                return new Response(JSON.stringify({ subjects: [{ first }], next: null }), { status: 200 });
              };
            }""",
            first,
        )
        self.page.get_by_role("button", name="Look back in time").click()
        slider = self.page.get_by_role("slider", name="Time of day")
        expected = self.page.evaluate("(first) => new Date(first).getHours() * 60 + new Date(first).getMinutes()", first)
        support.expect(slider).to_have_value(str(expected))
        self.page.get_by_role("button", name="Ten minutes earlier").click()
        support.expect(slider).to_have_value(str(expected))

    def test_all_of_it_fits_and_can_be_read(self):
        pages = [
            address("subject", self.tag),
            address("zone", "hall"),
            address("region", "gallery", "entrance"),
            address("observer", self.mock.world.observers[3]),
        ]
        for width in (1440, 390):
            for theme in ("light", "dark"):
                with self.subTest(width=width, theme=theme), support.Visit(
                    self.browser, width=width, theme=theme
                ) as visit:
                    for path in pages:
                        visit.page.goto(f"{self.mock.base}{path}")
                        support.expect(visit.page.locator("svg.chart")).to_be_visible()
                        visit.page.get_by_text("The same in words").click()
                        self.look_at(visit.page, path)
                    visit.page.goto(f"{self.mock.base}#/overview")
                    visit.page.get_by_role("button", name="Look back in time").click()
                    support.expect(visit.page.locator(".travel")).to_contain_text("as they were then")
                    self.look_at(visit.page, "time travel")
                    self.assertEqual(visit.errors, [])

    def look_at(self, page, what):
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        self.assertLessEqual(wide, 0, f"{what} is {wide} px too wide")
        self.assertEqual(page.evaluate(support.audit("contrast()")), [], what)
        self.assertEqual(page.evaluate(support.audit("nameless()")), [], what)


class HistoryModules(support.ModuleTest):
    """The scripts behind the timelines that compute something."""

    def test_runs_join_equal_neighbours_and_end_where_something_is_missing(self):
        points = [
            {"time": f"2026-01-01T00:0{minute}:00Z", "zone": zone}
            for minute, zone in [(0, "a"), (1, "a"), (2, "b"), (3, None), (4, "b"), (6, "b")]
        ]
        body = "return it.runsOf(given, 60000, (p) => p.zone).map((r) => [r.value, r.from / 6e4 % 60, r.to / 6e4 % 60]);"
        runs = [["a", 0, 2], ["b", 2, 3], ["b", 4, 5], ["b", 6, 7]]
        self.assertEqual(self.run_in("history.js", body, points), runs)

    def test_a_curve_has_a_gap_where_a_step_is_missing(self):
        points = [{"time": f"2026-01-01T00:0{minute}:00Z", "rssi": -60 - minute} for minute in (0, 1, 4)]
        body = "return it.curveOf(given, 60000, { value: 'rssi' }).map((point) => point.value);"
        self.assertEqual(self.run_in("history.js", body, points), [-60, -61, None, -64])
        stretches = "return it.stretches(given);"
        self.assertEqual(self.run_in("charts.js", stretches, [None, 1, 2, None, 3]), [[1, 3], [4, 5]])
        self.assertEqual(self.run_in("charts.js", stretches, [None, None]), [])
        self.assertEqual(self.run_in("charts.js", stretches, []), [])

    def test_scales_are_round_and_span_what_is_shown(self):
        for low, high in [(-91.5, -48), (0, 0), (0, 7), (0, 1234), (-60, -60), (3, 3.5), (0, 99999)]:
            with self.subTest(low=low, high=high):
                steps = self.run_in("charts.js", "return it.scaleOf(...given);", [low, high])
                self.assertLessEqual(steps[0], low)
                self.assertGreaterEqual(steps[-1], high)
                self.assertTrue(2 <= len(steps) <= 6, steps)
        self.assertEqual(self.run_in("charts.js", "return it.scaleOf(Infinity, -Infinity);"), [0, 1])

    def test_ranges_are_read_from_an_address_and_written_to_it(self):
        body = """const range = it.rangeOf(new URLSearchParams(given));
          return [range.span, range.address, Math.round((range.to - range.from) / 3600000)];"""
        fixed = "from=2026-01-01T00:00:00.000Z&to=2026-01-01T05:00:00.000Z"
        for given, expected in [
            ("", ["24h", "range=24h", 24]),
            ("range=7d", ["7d", "range=7d", 168]),
            ("range=never", ["24h", "range=24h", 24]),
            (fixed, [None, fixed, 5]),
            ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", ["24h", "range=24h", 24]),
            ("from=yesterday&to=today", ["24h", "range=24h", 24]),
        ]:
            with self.subTest(given=given):
                self.assertEqual(self.run_in("history.js", body, given), expected)

    def test_entries_of_time_are_by_the_clock_of_the_reader(self):
        body = "return new Date(it.localInput(given)).getTime();"
        self.assertEqual(self.run_in("history.js", body, 1_767_225_600_000), 1_767_225_600_000)
