"""Every page against the mock server: it is there, complains of nothing, fits its screen, can be read and reached."""

import support

PAGES = ["overview", "things", "rooms", "gateways", "events", "status", "regions", "webhooks", "access", "compare"]


class Pages(support.BrowserTest):
    """All pages with a full place and with an empty one."""

    def look_at(self, base, width, theme):
        with support.Visit(self.browser, width=width, theme=theme) as visit:
            page = visit.page
            for name in PAGES:
                page.goto(f"{base}#/{name}")
                support.expect(page.locator("#pages a[aria-current=page]")).to_have_attribute("data-page", name)
                support.expect(page.locator("main .card:visible, main .figures").first).to_be_visible()
                support.expect(page.locator("h1")).to_be_visible()
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                self.assertLessEqual(wide, 0, f"{name} at {width} px is {wide} px too wide")
                self.assertEqual(
                    page.evaluate(support.audit("contrast()")), [], f"{name}, {theme}: too little contrast"
                )
                self.assertEqual(page.evaluate(support.audit("nameless()")), [], f"{name}: controls without a name")
            self.assertEqual(visit.errors, [])

    def test_pages_of_a_full_place(self):
        with support.Mock(tags=30, moves=5, fixes=10) as mock:
            for width in (1280, 390):
                for theme in ("light", "dark"):
                    with self.subTest(width=width, theme=theme):
                        self.look_at(mock.base, width, theme)

    def test_pages_of_an_empty_place_say_what_to_do(self):
        with support.Mock(empty=True) as mock:
            for width, theme in ((1280, "light"), (390, "dark")):
                with self.subTest(width=width, theme=theme):
                    self.look_at(mock.base, width, theme)
            with support.Visit(self.browser) as visit:
                visit.page.goto(f"{mock.base}#/overview")
                support.expect(visit.page.get_by_text("Add a room, and tags appear in it.")).to_be_visible()
                for name in ("overview", "things", "rooms", "gateways", "events", "regions", "webhooks", "access"):
                    visit.page.goto(f"{mock.base}#/{name}")
                    support.expect(visit.page.locator(".empty b").first).to_be_visible()

    def test_the_keyboard_reaches_everything(self):
        with support.Mock() as mock, support.Visit(self.browser) as visit:
            page = visit.page
            page.goto(f"{mock.base}#/overview")
            support.expect(page.locator("canvas")).to_be_visible()
            page.keyboard.press("Tab")
            support.expect(page.locator(".skip")).to_be_focused()
            page.keyboard.press("Enter")
            support.expect(page.locator("main")).to_be_focused()
            page.goto(f"{mock.base}#/regions")
            support.expect(page.get_by_role("button", name="Add application")).to_be_visible()
            page.keyboard.press("Tab")
            reached = set()
            for _ in range(60):
                reached.add(page.evaluate("document.activeElement.textContent.trim()"))
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                self.assertTrue(
                    outline != "none" or page.evaluate("document.activeElement === document.body"),
                    "the focus cannot be seen",
                )
                page.keyboard.press("Tab")
            self.assertLessEqual({"Overview", "Status", "Add application", "Add region", "Change", "Remove"}, reached)

    def test_the_theme_can_be_chosen(self):
        with support.Mock() as mock, support.Visit(self.browser, theme="dark") as visit:
            page = visit.page
            page.goto(mock.base)
            root = page.locator("html")
            support.expect(root).to_have_attribute("data-theme", "dark")
            page.locator("#theme").click()
            support.expect(root).to_have_attribute("data-theme", "light")
            page.reload()
            support.expect(root).to_have_attribute("data-theme", "light")
            self.assertEqual(visit.errors, [])
