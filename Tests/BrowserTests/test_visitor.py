"""The page of a venue for its visitors: on a telephone and a screen, in three languages, on paper and without a network."""

import support


class Visitor(support.BrowserTest):
    """The museum's page of the mock server."""

    def open(self, visit, mock):
        visit.page.goto(f"{mock.base}venues/museum")
        support.expect(visit.page.locator("h1")).to_have_text("The museum")
        return visit.page

    def test_it_fits_and_can_be_read_in_both_themes(self):
        with support.Mock() as mock:
            for width in (390, 1280):
                for theme in ("light", "dark"):
                    with self.subTest(width=width, theme=theme), support.Visit(self.browser, width, theme) as visit:
                        page = self.open(visit, mock)
                        page.locator("#directory").get_by_role("button", name="Café under the roof").click()
                        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                        self.assertLessEqual(wide, 0, f"{wide} px too wide")
                        self.assertEqual(page.evaluate(support.audit("contrast()")), [])
                        self.assertEqual(page.evaluate(support.audit("nameless()")), [])
                        self.assertEqual(visit.errors, [])

    def test_search_place_and_floor(self):
        with support.Mock() as mock, support.Visit(self.browser, width=390) as visit:
            page = self.open(visit, mock)
            support.expect(page.get_by_role("link", name="Near me")).to_have_attribute("href", "https://example.org/app")
            page.get_by_label("Search").fill("CAFE soup")
            support.expect(page.get_by_role("status")).to_have_text("1 place found")
            page.locator("#search").get_by_role("button").click()
            support.expect(page.get_by_role("heading", name="Café under the roof")).to_be_visible()
            support.expect(page.get_by_text("Cash only.")).to_be_visible()
            support.expect(page.locator(".floors button[aria-pressed=true]")).to_have_count(1)
            support.expect(page.locator(".map .chosen")).to_have_count(1)
            support.expect(page.get_by_label("To", exact=True)).to_have_value("café")
            page.get_by_label("Search").fill("xyz")
            support.expect(page.get_by_role("status")).to_have_text("0 places found")
            self.assertEqual(visit.errors, [])

    def test_directions_in_three_languages(self):
        with support.Mock() as mock, support.Visit(self.browser, width=390) as visit:
            page = self.open(visit, mock)
            page.get_by_label("To", exact=True).select_option("toilets")
            page.get_by_role("button", name="Show the way").click()
            steps = page.locator("ol.steps li")
            support.expect(steps).to_have_text(["main door → toilets", "You have arrived"])
            support.expect(page.locator(".map .route")).to_have_count(1)
            for language, last in (("de", "Sie sind da"), ("fr", "Vous êtes arrivé")):
                page.locator("header select").select_option(language)
                support.expect(steps.last).to_have_text(last)
                support.expect(page.locator("html")).to_have_attribute("lang", language)
            page.emulate_media(media="print")
            support.expect(page.locator("form")).to_be_hidden()
            support.expect(steps.last).to_be_visible()
            self.assertEqual(visit.errors, [])

    def test_it_works_without_a_network_after_the_first_visit(self):
        with support.Mock() as mock, support.Visit(self.browser, width=390) as visit:
            page = self.open(visit, mock)
            page.evaluate("navigator.serviceWorker.ready.then(() => true)")
            page.reload()
            support.expect(page.locator("h1")).to_have_text("The museum")
            page.get_by_role("button", name="Show the way").click()
            support.expect(page.locator("ol.steps li")).to_have_count(2)
            mock.stop()
            page.reload()
            support.expect(page.locator("h1")).to_have_text("The museum")
            page.get_by_label("Search").fill("desk")
            support.expect(page.get_by_role("status")).to_have_text("1 place found")
            page.get_by_role("button", name="Show the way").click()
            support.expect(page.locator("ol.steps li")).to_have_count(2)
            page.get_by_label("To", exact=True).select_option("toilets")
            page.get_by_role("button", name="Show the way").click()
            support.expect(page.get_by_text("There is no connection.")).to_be_visible()
            visit.forgive("ERR_", "Failed to load resource", "Failed to fetch")
            self.assertEqual(visit.errors, [])

    def test_a_venue_without_a_page_is_not_there(self):
        with support.Mock() as mock, support.Visit(self.browser) as visit:
            answer = visit.page.goto(f"{mock.base}venues/gone")
            self.assertEqual(answer.status, 404)
