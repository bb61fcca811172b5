"""The floor plan: who is where, on which floor, by pointer and by keys."""

import math

import support


class Floor(support.MockTest):
    """A museum of three floors in which all subjects stand still unless a test moves them."""

    mocked = {"tags": 12, "moves": 0, "fixes": 10, "walks": False}

    def setUp(self):
        super().setUp()
        for number in range(12):
            level = 1 if number < 4 else 0 if number < 9 else -1
            self.put(number, x=6.0 + 4 * number, y=12.0, level=level)
        self.page.goto(self.mock.base)
        support.expect(self.floor("Ground floor")).to_have_attribute("aria-pressed", "true")

    def put(self, number, **place):
        self.mock.world.locate(self.mock.world.walker(number), **place)

    def floor(self, name):
        return self.page.get_by_role("group", name="Floor", exact=True).get_by_role("button", name=name)

    def shown(self, name):
        return self.page.get_by_role("img", name=name)

    def test_floors_stand_above_each_other_and_say_how_many_are_on_them(self):
        buttons = self.page.get_by_role("group", name="Floor", exact=True).get_by_role("button")
        names = [buttons.nth(index).get_attribute("aria-label") for index in range(buttons.count())]
        self.assertEqual(names, ["Upper floor, 4 things", "Ground floor, 5 things", "Basement, 3 things"])
        support.expect(self.shown("Ground floor: 5 things")).to_be_visible()
        with self.page.expect_response("**/floors/main/1/plan") as plan:
            self.floor("Upper floor").click()
        self.assertEqual(plan.value.status, 200)
        support.expect(self.shown("Upper floor: 4 things")).to_be_visible()
        self.put(4, level=1)
        support.expect(self.shown("Upper floor: 5 things")).to_be_visible()
        support.expect(self.floor("Ground floor")).to_have_attribute("aria-label", "Ground floor, 4 things")

    def test_keys_move_zoom_and_change_floors(self):
        stage = self.page.locator(".floor-stage")
        stage.focus()
        scale = "() => document.querySelector('.floor-stage canvas').toDataURL().length"
        before = self.page.evaluate(scale)
        for key in ("+", "+", "ArrowLeft", "ArrowUp"):
            self.page.keyboard.press(key)
        self.page.wait_for_function(f"(before) => ({scale})() !== before", arg=before)
        self.page.keyboard.press("0")
        self.page.keyboard.press("PageUp")
        support.expect(self.floor("Upper floor")).to_have_attribute("aria-pressed", "true")
        self.page.keyboard.press("PageUp")
        support.expect(self.floor("Upper floor")).to_have_attribute("aria-pressed", "true")
        for _ in range(2):
            self.page.keyboard.press("PageDown")
        support.expect(self.floor("Basement")).to_have_attribute("aria-pressed", "true")
        reached = []
        for _ in range(12):
            self.page.keyboard.press("Tab")
            reached.append(self.page.evaluate("document.activeElement.getAttribute('aria-label')") or "")
        for name in ("Zoom in", "Zoom out", "Show the whole floor"):
            self.assertIn(name, reached)
        self.assertTrue(any(name.startswith("Upper floor") for name in reached))

    def test_who_is_chosen_is_described_and_followed_to_other_floors(self):
        self.page.get_by_text("The same in words").click()
        subject = self.mock.world.walker(6)
        item = self.page.locator(".floor-list li", has=self.page.get_by_role("button", name=subject, exact=True))
        support.expect(item).to_contain_text("Ground floor, ±2.4 m")
        # Of everyone, on whatever floor.
        support.expect(self.page.locator(".floor-list li")).to_have_count(12)
        item.get_by_role("button").click()
        facts = self.page.locator(".floor-facts")
        support.expect(facts).to_contain_text(subject)
        support.expect(facts).to_contain_text("±2.4 m")
        support.expect(facts).to_contain_text("Ground floor")
        support.expect(facts).to_contain_text("Wi-Fi, motion")
        support.expect(facts).to_contain_text("not needed here")
        support.expect(facts).to_contain_text("simulated by software")
        support.expect(facts).to_contain_text("98 %")
        support.expect(facts).to_contain_text("1.4 ±0.3 m/s")
        support.expect(facts).to_contain_text("12.5 ±1.5 m")
        # A member without words of its own stands with its name, and the description of the interface.
        other = facts.locator("div[title='Metres above WGS 84.']")
        support.expect(other).to_have_text("Ellipsoidal altitude36.75")
        self.put(6, level=-1)
        support.expect(self.floor("Basement")).to_have_attribute("aria-pressed", "true")
        support.expect(facts).to_contain_text("Basement")
        self.put(6, x=-8.0, level=None)
        support.expect(facts).to_contain_text("outdoors")
        facts.get_by_role("button", name="Deselect").click()
        support.expect(facts).to_be_hidden()

    def test_a_pointer_finds_a_subject_and_says_how_sure_that_is(self):
        self.page.wait_for_function("document.querySelector('.floor-stage canvas').width > 300")
        self.page.locator(".floor-stage").scroll_into_view_if_needed()
        box = self.page.locator(".floor-stage canvas").bounding_box()
        # The whole of 60 by 24 m is shown with 28 pixels of margin: the subject at (30, 12) is in the middle.
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        support.expect(self.page.locator(".tip")).to_contain_text("±2.4 m")
        self.page.mouse.down()
        self.page.mouse.up()
        support.expect(self.page.locator(".floor-facts")).to_contain_text(self.mock.world.walker(6))
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + 40, box["y"] + 40, steps=4)
        self.page.mouse.up()
        support.expect(self.page.locator(".floor-facts")).to_be_visible()


    def test_who_is_chosen_in_the_address_is_in_view_beside_the_controls(self):
        subject = self.mock.world.walker(4)
        self.page.goto(f"{self.mock.base}#/overview?subject={subject}")
        facts = self.page.locator(".floor-facts")
        support.expect(facts).to_contain_text(subject)
        support.expect(self.page.locator(".floor-stage")).to_be_in_viewport(ratio=0.9)
        stage, panel = (self.page.locator(name).bounding_box() for name in (".floor-stage", ".floor-facts"))
        # All of 60 m was shown with 28 pixels of margin; the zoom left the subject, at (22, 12), where it was.
        scale = (stage["width"] - 56) / 60
        beside = panel["x"] + panel["width"] - stage["x"]
        x = max(stage["width"] / 2 - 8 * scale, beside)
        found = []
        for step in range(0, 80, 4):
            self.page.mouse.move(stage["x"] + x + step, stage["y"] + stage["height"] / 2)
            tip = self.page.locator(".tip")
            if tip.is_visible() and subject in tip.inner_text():
                found.append(step)
        self.assertTrue(found, "the chosen subject is not beside the panel")
        facts.get_by_role("link", name=subject).click()
        support.expect(self.page.locator("h1")).to_have_text(subject)
        self.page.go_back()

    def test_light_and_dark_show_the_same_map(self):
        def texts(theme):
            with support.Visit(self.browser, theme=theme) as visit:
                visit.page.add_init_script(
                    """window.written = new Set();
                    const fill = CanvasRenderingContext2D.prototype.fillText;
                    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
                      window.written.add(text);
                      return fill.call(this, text, ...rest);
                    };"""
                )
                asked = []
                visit.page.on("request", lambda request: asked.append(request.url))
                visit.page.goto(self.mock.base)
                support.expect(visit.page.get_by_role("img", name="Ground floor: 5 things")).to_be_visible()
                visit.page.wait_for_function("window.written.has('visitor-8')")
                visit.page.wait_for_timeout(500)
                self.assertEqual([url for url in asked if "/tiles/" in url], [])
                return set(visit.page.evaluate("[...window.written]"))

        light = texts("light")
        self.assertEqual(light, texts("dark"))
        self.assertLessEqual({"Stairs", "Lift", "⇄"}, light)

    def test_every_mark_is_in_the_legend(self):
        legend = self.page.locator(".plan .legend-row")
        for words in ("a person", "a tag", "a gateway", "a way in", "stairs", "a lift", "outdoors"):
            support.expect(legend.locator("span", has_text=words).first).to_be_visible()
        support.expect(legend.locator("span", has_text="a gateway that is down")).to_be_visible()


class FloorModules(support.BrowserTest):
    """The scripts behind the floor plan that compute something."""

    def test_metres_are_metres_wherever_on_the_earth(self):
        with support.Mock(empty=True) as mock, support.Visit(self.browser) as visit:
            visit.page.goto(mock.base)
            for latitude in (0, -33.86, 52.5, 69.65):
                north, east = self.thousandths(latitude)
                found = visit.page.evaluate(
                    """async (latitude) => {
                      const { Frame } = await import('/assets/floor-frame.js');
                      const frame = new Frame(latitude, 13.4);
                      return [frame.y(latitude + 0.001), frame.x(13.401)];
                    }""",
                    latitude,
                )
                self.assertAlmostEqual(found[0], north, delta=0.002, msg=f"to the north at {latitude}")
                self.assertAlmostEqual(found[1], east, delta=0.002, msg=f"to the east at {latitude}")

    @staticmethod
    def thousandths(latitude):
        """How many metres a thousandth of a degree is to the north and to the east: the radii of curvature on WGS 84."""
        radius, squared = 6_378_137.0, 0.00669437999014
        angle = math.radians(latitude)
        bulge = 1 - squared * math.sin(angle) ** 2
        meridian = radius * (1 - squared) / bulge**1.5
        across = radius / math.sqrt(bulge) * math.cos(angle)
        return math.radians(0.001) * meridian, math.radians(0.001) * across

    def test_a_zoom_leaves_what_is_under_the_pointer_where_it_is(self):
        with support.Mock(empty=True) as mock, support.Visit(self.browser) as visit:
            visit.page.goto(mock.base)
            found = visit.page.evaluate(
                """async () => {
                  const { Viewport } = await import('/assets/floor-frame.js');
                  const view = Object.assign(new Viewport(), { width: 640, height: 400 });
                  view.showAll({ left: -30, right: 30, bottom: 0, top: 24 });
                  const corners = [view.pixelX(-30), view.pixelX(30), view.pixelY(12)];
                  const before = [view.metresX(100), view.metresY(90)];
                  const spans = [];
                  for (let step = 0; step < 40; step += 1) {
                    view.zoom(1.4, 100, 90);
                    spans.push(Math.hypot(view.metresX(100) - before[0], view.metresY(90) - before[1]));
                  }
                  return { corners, drift: Math.max(...spans), scale: view.scale };
                }"""
            )
            self.assertAlmostEqual(found["corners"][0], 28, delta=0.01)
            self.assertAlmostEqual(found["corners"][1], 612, delta=0.01)
            self.assertAlmostEqual(found["corners"][2], 200, delta=0.01)
            self.assertLess(found["drift"], 1e-6)
            self.assertEqual(found["scale"], 60)
