"""Whether all is well: one verdict in words, and what is wrong first."""

import support


class Verdicts(support.BrowserTest):
    """What an owner reads before any number."""

    def look(self, route="status", **world):
        mock = support.Mock(**world)
        visit = support.Visit(self.browser)
        self.addCleanup(mock.stop)
        self.addCleanup(visit.close)
        visit.page.goto(f"{mock.base}#/{route}")
        return mock.world, visit

    def test_a_site_without_troubles_is_well(self):
        world, visit = self.look(empty=True)
        verdict = visit.page.get_by_role("status", name="Verdict")
        support.expect(verdict.get_by_role("heading", name="All is well")).to_be_visible()
        support.expect(visit.page.get_by_text("Datagrams").first).to_be_hidden()
        visit.page.get_by_text("Counters: what came in").click()
        support.expect(visit.page.get_by_text("Datagrams").first).to_be_visible()
        world.checks = [{"name": "journal", "ok": False, "problem": "the disk is full"}]
        support.expect(verdict).to_contain_text("The journal cannot be written or is damaged")
        support.expect(verdict).to_contain_text("the disk is full.")
        world.checks = []
        support.expect(verdict.get_by_role("heading", name="All is well")).to_be_visible()
        visit.forgive("503")
        self.assertEqual(visit.errors, [])

    def test_each_trouble_has_a_line_and_the_gravest_come_first(self):
        world, visit = self.look(tags=4, moves=0)
        world.applications["gallery"]["regionLimit"] = 2
        lines = visit.page.locator(".troubles li")
        support.expect(lines).to_have_count(5)
        support.expect(lines.nth(0)).to_contain_text(f"Gateway {world.observers[3]} is down since")
        support.expect(lines.nth(0)).to_contain_text("East wing hears nothing: what was there last stays shown there")
        support.expect(lines.nth(1)).to_contain_text("Webhook the till fails since")
        support.expect(lines.nth(1)).to_contain_text("status 503. 31 events wait")
        rest = " ".join(lines.nth(index).inner_text() for index in (2, 3, 4))
        for words in ("gallery has all 2 regions", "10.0.0.91 sends what cannot be read", "1 gateway waits"):
            self.assertIn(words, rest)
        self.assertEqual(visit.errors, [])

    def test_a_gateway_that_is_down_comes_first_on_the_overview_and_goes_when_it_is_back(self):
        world, visit = self.look("overview", tags=4, moves=0)
        line = visit.page.locator(".troubles li").first
        support.expect(line).to_contain_text(f"Gateway {world.observers[3]} is down since")
        above = visit.page.evaluate(
            "document.querySelector('.troubles').getBoundingClientRect().bottom <="
            " document.querySelector('.figures').getBoundingClientRect().top"
        )
        self.assertTrue(above)
        # A handset that went home is no trouble: an app's identifier, and one that was located.
        rows = world.observer_rows()
        gone = [{**rows[3], "id": identity} for identity in ("7d1c2f3e-0000-4000-8000-000000000001",)]
        world.observer_rows = lambda: [row for row in rows if row["isUp"]] + gone
        support.expect(line).to_contain_text("Webhook")
        line.get_by_role("link").click()
        support.expect(visit.page.locator("h1")).to_have_text("Webhooks")
        self.assertEqual(visit.errors, [])

    def test_a_gateway_that_is_not_listed_is_expected_for_an_hour(self):
        _, visit = self.look(empty=True)
        found = visit.page.evaluate(
            """async () => {
              const { divide, expected } = await import('/assets/gateways.js');
              const at = (minutes) => new Date(1e12 - minutes * 60000).toISOString();
              const row = (id, minutes, more) => ({ id, lastHeard: at(minutes), isUp: false, listed: false, ...more });
              const rows = [row('gone', 61), row('missing', 59), row('named', 600, { listed: true }), row('ann', 1),
                row('7d1c2f3e-0000-4000-8000-000000000001', 1), row('placed', 600, { isUp: true })];
              const { gateways, handsets } = divide(rows, [{ observers: ['placed'] }], [
                { subject: 'ann', subjectKind: 'observer' }, { subject: 'placed', subjectKind: 'observer' }]);
              return [expected(gateways, 1e12).map((row) => row.id), handsets.map((row) => row.id)];
            }"""
        )
        self.assertEqual(found, [["missing", "named", "placed"], ["ann", "7d1c2f3e-0000-4000-8000-000000000001"]])
