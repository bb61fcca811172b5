"""The scripts that compute something, run in the browser that they are for."""

import support


class Modules(support.ModuleTest):
    """Functions of the pages, called with values."""

    def test_events_come_out_alike_however_the_text_is_cut(self):
        text = (
            ': hello\n\nid: 7\nevent: pharos.region.enter\ndata: {"a":\ndata: 1}\n\nretry: 2000\n\n'
            "data: ümlaut\r\n\r\nid: 8\ndata:x\n\n"
        )
        whole = [
            {"id": "7", "event": "pharos.region.enter", "data": '{"a":\n1}'},
            {"id": "", "event": "", "data": "ümlaut"},
            {"id": "8", "event": "", "data": "x"},
        ]
        body = """const parser = new it.EventParser(); const found = [];
          for (let at = 0; at < given.text.length; at += given.step)
            found.push(...parser.receive(given.text.slice(at, at + given.step)));
          return found;"""
        for step in (1, 2, 3, 7, 1000):
            self.assertEqual(self.run_in("sse.js", body, {"text": text, "step": step}), whole, f"cut every {step}")

    def test_names_on_a_floor_cover_neither_marks_nor_each_other(self):
        def places(*names):
            body = """const labels = given.map((name) => ({ ...name, candidates: it.around(name.x, name.y, name.width) }));
              return it.placeLabels(labels, given, 400).map((place) => place && [place.left, place.y]);"""
            return self.run_in("floor-labels.js", body, names)

        name = {"x": 100, "y": 100, "width": 60}
        self.assertEqual(places(name), [[112, 100]])
        # A mark at the right: the name goes to the left, and that mark's own to the right.
        self.assertEqual(places(name, {"x": 130, "y": 104, "width": 40}), [[28, 100], [142, 104]])
        # Marks on both sides: above; then one above too: below; then one below too: no room.
        around = [{"x": x, "y": y, "width": 9} for x, y in ((60, 100), (140, 100), (100, 80), (100, 120))]
        self.assertEqual(places(name, *around[:2])[0], [70, 84])
        self.assertEqual(places(name, *around[:3])[0], [70, 116])
        self.assertEqual(places(name, *around)[0], None)
        # Names stay in the picture.
        self.assertEqual(places({"x": 390, "y": 100, "width": 60}), [[318, 100]])

    def test_names_on_a_visitors_map_cross_no_wall(self):
        def placed(width, *names, marks=()):
            # A room around each name's mark, 40 high; a letter is 6 wide and 10 high.
            body = """const pieces = given.names.flatMap(({ x, y }) => {
                const [left, right, top, bottom] = [x - given.width / 2, x + given.width / 2, y - 20, y + 20];
                return [[left, top, right, top], [right, top, right, bottom], [right, bottom, left, bottom],
                  [left, bottom, left, top]];
              });
              const marks = [...given.names, ...given.marks].map(({ x, y }) => ({ x, y, r: 2 }));
              const widthOf = (text) => 6 * text.length;
              const found = it.placeNames(given.names, { pieces, marks, size: 10, gap: 3, widthOf });
              return found.map((name) => name && [name.lines.join("|"), name.turned]);"""
            return self.run_in("visitor-labels.js", body, {"width": width, "names": names, "marks": marks})

        def name(text, x=100, **more):
            return {"text": text, "x": x, "y": 100, **more}

        self.assertEqual(placed(100, name("Corner Shop")), [["Corner Shop", False]])
        # In two lines there is no room above or below the mark, since the room is too low.
        self.assertEqual(placed(60, name("Corner Shop")), [["Corner S…", False]])
        self.assertEqual(placed(45, name("Toys")), [["Toys", False]])
        # Beside the mark, upright.
        self.assertEqual(placed(33, name("Cafés")), [["Cafés", True]])
        self.assertEqual(placed(20, name("Information")), [None])
        self.assertEqual(placed(20, name("Information", isChosen=True)), [["Information", False]])
        # Names do not cover each other, and the first comes first.
        self.assertEqual(placed(400, name("Left"), name("Right", 104)), [["Left", False], ["Right", False]])

    def test_no_place_is_named_twice_and_a_room_gives_way_to_who_is_in_it(self):
        body = """const { Viewport } = await import('/assets/floor-frame.js');
          const view = Object.assign(new Viewport(), { width: 400, height: 400, scale: 10 });
          const written = [];
          const pen = {
            measureText: (text) => ({ width: 7 * text.length }),
            strokeText: () => {},
            fillText: (text, left, y) => written.push([text, left, y]),
          };
          const room = (text, left, right, bottom, top) => ({ text, left, right, bottom, top });
          const names = [room('Café', -10, 10, -8, 8), room('café', -8, 8, -14, -9), room('Hall', 12, 19, 12, 19)];
          const mark = { key: 'tag', x: 0, y: 0, look: { name: () => 'Trolley', tone: 'accent' } };
          const shapes = { names, points: [], image: null };
          const fences = [{ id: 'CAFÉ', x: 50, y: 50 }, { id: 'yard', x: 60, y: 60 }];
          it.drawLabels(pen, { marks: [mark], shapes, fences, chosen: null }, view, {});
          return written;"""
        written = self.run_in("floor-labels.js", body)
        self.assertEqual([text for text, _, _ in written], ["Trolley", "Café", "Hall", "yard"])
        # The mark stands in the middle of the café: the room's name goes above it.
        self.assertEqual(written[1][2], 160)
        self.assertEqual(written[2][2], 200 - 155)

    def test_a_place_is_brought_into_the_free_part_of_a_picture(self):
        body = """const { Viewport } = it;
          const view = Object.assign(new Viewport(), { width: 600, height: 400, scale: 10 });
          const free = { left: 300, right: 500, top: 60, bottom: 340 };
          return [[0, 0], [-30, 20], [40, -30], [5, 5]].map(([x, y]) => {
            view.reveal(x, y, free);
            return [view.pixelX(x), view.pixelY(y)].map(Math.round);
          });"""
        found = self.run_in("floor-frame.js", body)
        for x, y in found:
            self.assertTrue(300 <= x <= 500 and 60 <= y <= 340, (x, y))
        self.assertEqual(found[0], [300, 200])

    def test_reasons_say_names_and_leave_words_alone(self):
        body = """it.learn([{ id: 'ac:23:3f:a0:00:61', name: 'till' }, { id: 'customer', name: 'handset of a customer' }],
            (entry) => entry.id);
          return it.spell('ac:23:3f:a0:00:61 hears the handset of a customer.');"""
        self.assertEqual(self.run_in("names.js", body), "till hears the handset of a customer.")

    def test_reasons_of_rooms_say_the_rooms_names(self):
        body = """const names = await import('/assets/names.js');
          names.learnRooms([{ id: 'store-room', name: 'Store room' }, { id: 'shop', name: 'Shop' }, { id: 'a.b', name: 'Ab' }]);
          const data = { zone: 'store-room', to: 'store-room', runnerUp: { zone: 'shop' }, from: 'a.b' };
          const text = 'store-room leads; shop came next, the shop-2 and workshop did not; a.b, not aXb.';
          return ['pharos.zone.enter', 'pharos.region.enter'].map((type) => it.reasonText({ type, data }, text));"""
        rooms, region = self.run_in("words.js", body)
        self.assertEqual(rooms, "Store room leads; Shop came next, the shop-2 and workshop did not; Ab, not aXb.")
        self.assertEqual(region, "store-room leads; shop came next, the shop-2 and workshop did not; a.b, not aXb.")

    def test_a_uuid_is_checked_as_one_types(self):
        check = "return given.map((text) => it.checkUUID(text));"
        good = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
        results = self.run_in(
            "identity.js", check, [good, good.lower().replace("-", ""), good[:-1], good + "0", "E2C5-6G", ""]
        )
        self.assertEqual([result["ok"] for result in results], [True, True, False, False, False, False])
        self.assertIn("31 of 32", results[2]["text"])
        self.assertIn("1 too many", results[3]["text"])
        self.assertIn("place 7", results[4]["text"])
        self.assertEqual(self.run_in("identity.js", "return it.uuidText(given)", good.lower().replace("-", "")), good)

    def test_identities_are_read_as_the_server_writes_them(self):
        body = "return given.map((text) => it.parseIdentity(text));"
        uuid = "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"
        found = self.run_in(
            "identity.js",
            body,
            [
                f"{uuid}/1/*",
                f"{uuid}/0/65535@11:22:33:44:55:66",
                "eddystone:00010203040506070809/aabbccddeeff",
                "mac:ac:23:3f:a0:00:01",
                "till",
            ],
        )
        self.assertEqual(found[0], {"kind": "uuid", "uuid": uuid, "major": 1})
        self.assertEqual(found[1], {"kind": "uuid", "uuid": uuid, "major": 0, "minor": 65535})
        self.assertEqual(
            found[2], {"kind": "eddystone", "namespace": "00010203040506070809", "instance": "aabbccddeeff"}
        )
        self.assertEqual(found[3], {"kind": "mac", "mac": "ac:23:3f:a0:00:01"})
        self.assertIsNone(found[4])

    def test_times_and_amounts_have_their_units(self):
        body = "return given.map(([name, value]) => it[name](value));"
        pairs = [
            ("seconds", 0.352),
            ("seconds", 6.2),
            ("seconds", 59.96),
            ("seconds", 93),
            ("seconds", 3600),
            ("seconds", 90000),
            ("seconds", -2),
            ("seconds", None),
            ("level", -61.4),
            ("level", 0),
            ("metres", -1),
            ("metres", 2.34),
            ("percent", 0.0001),
            ("bytes", 1234567),
            ("rate", 0),
        ]
        wanted = [
            "352 ms",
            "6.2 s",
            "1 min 0 s",
            "1 min 33 s",
            "1 h 0 min",
            "1 d 1 h",
            "−2.0 s",
            "–",
            "−61 dBm",
            "–",
            "–",
            "2.3 m",
            "< 0.1 %",
            "1.2 MB",
            "0/s",
        ]
        self.assertEqual(self.run_in("format.js", body, pairs), wanted)

    def test_neighbours_stand_side_by_side(self):
        chain = [{"id": f"z{n}", "adjacent": [f"z{n + 1}"] if n < 11 else []} for n in range(12)]
        star = [{"id": "hub", "adjacent": ["n", "e", "s", "w"]}] + [{"id": name, "adjacent": []} for name in "nesw"]
        body = "return [...it.arrange(given.places, given.columns)].map(([id, cell]) => [id, cell.column, cell.row]);"
        for places, columns in ((chain, 2), (chain, 4), (star, 3), (star, 5)):
            cells = {
                name: (column, row)
                for name, column, row in self.run_in("plan-layout.js", body, {"places": places, "columns": columns})
            }
            self.assertEqual(len(set(cells.values())), len(places), "two places share a cell")
            self.assertLess(max(column for column, _ in cells.values()), columns)
            for place in places:
                for other in place["adjacent"]:
                    (a, b), (c, d) = cells[place["id"]], cells[other]
                    self.assertEqual(abs(a - c) + abs(b - d), 1, f"{place['id']} is not beside {other}: {cells}")

    def test_a_plan_of_any_doors_has_a_cell_for_each_and_is_the_same_again(self):
        randoms = support.Random(4)
        body = "return [...it.arrange(given.places, given.columns)].map(([id, cell]) => [id, cell.column, cell.row]);"
        for _ in range(25):
            names = [f"p{n}" for n in range(randoms.randint(1, 30))]
            places = [
                {"id": name, "adjacent": randoms.sample(names + ["elsewhere"], min(len(names), randoms.randint(0, 3)))}
                for name in names
            ]
            given = {"places": places, "columns": randoms.randint(1, 6)}
            cells = self.run_in("plan-layout.js", body, given)
            self.assertEqual({name for name, _, _ in cells}, set(names))
            self.assertEqual(len({(column, row) for _, column, row in cells}), len(names))
            self.assertTrue(all(0 <= column < given["columns"] and row >= 0 for _, column, row in cells))
            self.assertEqual(cells, self.run_in("plan-layout.js", body, given))

    def test_kinds_and_rules_that_are_not_known_are_told_in_their_own_words(self):
        event = {"type": "pharos.beacon.pickedUp", "subject": "desk"}
        said = self.run_in("words.js", "return [it.headline(given).text, it.ruleWords('quickExit')];", event)
        self.assertEqual(said, ["desk: beacon picked up", "quick exit"])

    def test_the_timeline_says_when_a_fixed_rule_would_have_fired(self):
        event = {
            "type": "pharos.region.exit",
            "time": "2026-01-01T00:00:06.200Z",
            "data": {
                "decidedAt": "2026-01-01T00:00:06.600Z",
                "evidence": {
                    "rule": "adaptiveSilence",
                    "gap": 6.2,
                    "allowedGap": 6.2,
                    "interval": 0.35,
                    "lastHeard": "2026-01-01T00:00:00.000Z",
                    "fixedRuleAt": "2026-01-01T00:00:30.000Z",
                    "waitedForProof": 0.4,
                },
            },
        }
        texts = self.run_in("timeline.js", "return it.timelineRows(given).rows.map((row) => row.text);", event)
        self.assertIn("Silence: 6.2 s", texts)
        self.assertTrue(any("fired 24 s later" in text for text in texts), texts)
        other = "Other rules: reelyActive (15 s) 8.8 s later, room-assistant (60 s) 54 s later, ESPresense (120 s)"
        self.assertTrue(any(text.startswith(other) for text in texts), texts)
        self.assertTrue(any("400 ms for proof" in text for text in texts), texts)
        enter = {
            "type": "pharos.region.enter",
            "time": "2026-01-01T00:00:02.000Z",
            "data": {
                "to": "inside",
                "evidence": {
                    "rule": "samples",
                    "samples": 3,
                    "counted": 3,
                    "spread": 2,
                    "window": 3,
                    "lastHeard": "2026-01-01T00:00:02.000Z",
                    "fixedRuleAt": "2026-01-01T00:00:32.000Z",
                }
            },
        }
        texts = self.run_in("timeline.js", "return it.timelineRows(given).rows.map((row) => row.text);", enter)
        self.assertEqual(texts, ["3 samples within 2.0 s", "The rule: 3 within 3.0 s"])
        nothing = {"type": "pharos.region.state", "time": event["time"], "data": {"evidence": {"rule": "requested"}}}
        self.assertIsNone(self.run_in("timeline.js", "return it.timelineRows(given);", nothing))

    def test_the_picture_of_levels_names_what_decided(self):
        read = "return it.levelRows(given).map((row) => row.text);"
        exit = {"data": {"evidence": {"level": -89.5, "levelDeviation": 3.08, "threshold": -85}}}
        texts = self.run_in("level-picture.js", read, exit)
        self.assertEqual(texts, ["Filtered level: −90 dBm ± 3.1 dB, compared with −85 dBm"])
        zone = {"data": {"hearings": [{"observer": "hall", "level": -60, "offset": -4}, {"observer": "yard", "level": -71, "offset": 0}]}}
        texts = self.run_in("level-picture.js", read, zone)
        self.assertEqual(texts, ["hall: −60 dBm, with a learned offset of -4.0 dB", "yard: −71 dBm"])
        self.assertEqual(self.run_in("level-picture.js", read, {"data": {"evidence": {"gap": 3}}}), [])

    def test_marks_keep_their_slots_when_others_come_and_go(self):
        body = """const slots = new it.Slots(); const keys = (n) => new Set(n);
          slots.follow(keys(["a", "b", "c"])); const before = slots.slot("c");
          slots.follow(keys(["b", "c"])); slots.follow(keys(["b", "c", "d"]));
          return [before, slots.slot("c"), slots.slot("d"), slots.size];"""
        self.assertEqual(self.run_in("plan-scene.js", body), [2, 2, 0, 3])

    def test_names_from_the_air_stay_text(self):
        body = """const node = it.h("p", null, given); return [node.childElementCount, node.textContent];"""
        hostile = "<img src=x onerror=alert(1)>"
        self.assertEqual(self.run_in("dom.js", body, hostile), [0, hostile])
