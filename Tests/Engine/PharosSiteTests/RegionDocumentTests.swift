import PharosDocuments
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

@Suite("Regions, ranging and applications as JSON documents")
struct RegionDocumentTests {
  private func bytes(_ region: Region) -> [UInt8] {
    var json = JSONText()
    json.openObject()
    RegionDocument.write(region, to: &json)
    json.closeObject()
    return json.utf8
  }

  /// The fields and messages of what is wrong with a region's document.
  private func problems(_ text: String, identifier: String = "a") -> [String] {
    do {
      _ = try RegionDocument.region(json: Array(text.utf8), identifier: identifier)
      return []
    } catch {
      return error.problems.map { "\($0.field): \($0.message)" + ($0.expected.map { " | \($0)" } ?? "") }
    }
  }

  @Test("a region that is written is read back the same", arguments: Seeds.drawn(0..<200))
  func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let region = DrawnRegion.region(using: &random)
    #expect(try RegionDocument.region(json: bytes(region), identifier: region.identifier) == region)
    let request = RangingRequest(
      constraint: region.constraint ?? .proximity(UUID128(high: 1, low: 2)),
      keyedByAddress: region.keyedByAddress,
      whileInside: seed % 2 == 0
    )
    var json = JSONText()
    json.openObject()
    RangingDocument.write(request, to: &json)
    json.closeObject()
    #expect(try RangingDocument.request(json: json.utf8) == request)
  }

  @Test("a document means what the same words in a site file mean")
  func sameAsTheSiteFile() throws {
    let text = """
      { "id": "door", "uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 1, "minor": 7.0,
        "enter": { "samples": 2, "within": "3s", "rssi": -80 }, "exit": { "rssi": -9e1, "silence": "30s" } }
      """
    let region = try RegionDocument.region(json: Array(text.utf8), identifier: "door")
    let site = try SiteFile.parse(
      "regions: [" + text.replacing("7.0", with: "7").replacing("-9e1", with: "-90") + "]",
      path: "site.yaml"
    )
    #expect(site.site.applications.first?.regions == [region])
  }

  @Test(
    "each mistake names its field",
    arguments: [
      ("{", ": not JSON: a key is missing | a key in quotes"),
      ("", ": not JSON: the text ends here | a value"),
      ("[]", ": region \"a\" is a list | an object"),
      ("null", ": region \"a\" is \"null\" | an object"),
      (#"{"mac":"c0:00:00:00:00:01"} x"#, ": not JSON: something follows the value | nothing more"),
      (#"{"mac":"c0:00:00:00:00:01","mac":"x"}"#, ": not JSON: the key \"mac\" occurs twice | each key once"),
      (
        "id: a\nmac: \"c0:00:00:00:00:01\"",
        ": not JSON: no value starts here | "
          + "an object, an array, a text, a number, true or false"
      ),
      (
        #"{"mac":112233445566}"#,
        "mac: region \"a\": mac is \"112233445566\" | "
          + "six octets, as in \"ac:23:3f:a0:00:01\""
      ),
      (
        #"{"mac":"c0:00:00:00:00:01","id":"b"}"#,
        "id: region \"a\": id is \"b\" | "
          + "\"a\", as in the address, or no id"
      ),
      (
        #"{"mac":"c0:00:00:00:00:01","notifyOnExit":"true"}"#,
        "notifyOnExit: region \"a\": notifyOnExit is "
          + "\"true\" | true or false"
      ),
      (
        #"{"uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0","major":"1"}"#,
        "major: region \"a\": major is \"1\" | "
          + "a whole number from 0 to 65535"
      ),
      (
        #"{"uuid":"E2C56DB5-DFFB-48D2-B060-D0F5A71096E0","major":1.5}"#,
        "major: region \"a\": major is \"1.5\" | "
          + "a whole number from 0 to 65535"
      ),
      (
        #"{"mac":"c0:00:00:00:00:01","exit":{"dwell":5}}"#,
        "exit.dwell: region \"a\": exit: dwell is \"5\" | "
          + "a time with a unit, as in 350ms, 3s, 5m or 1h"
      ),
      (
        #"{"mac":"c0:00:00:00:00:01","enter":{"rssi":-75},"exit":{"rssi":-70}}"#,
        "exit.rssi: region \"a\": "
          + "exit.rssi (-70 dBm) must be under enter.rssi (-75 dBm)"
      ),
      (
        #"{"mac":"c0:00:00:00:00:01","subject":"beacon","observers":["a",7]}"#,
        "observers[1]: region \"a\": "
          + "observers has \"7\" | a MAC in quotes, a UUID or a name of at most 64 bytes without control "
          + "characters"
      ),
      (
        #"{"mac":"c0:00:00:00:00:01","colour":"\u00e9\ud83d\ude00"}"#,
        "colour: region \"a\": unknown key \"colour\" | "
          + "one of id, kind, subject, observers, uuid, major, minor, namespace, instance, mac, key, enter, exit, "
          + "notifyOnEntry, notifyOnExit, notifyEntryStateOnDisplay, maximumHold, title, description, address, "
          + "picture, link, properties"
      ),
      (#"{"mac":"\ud83d"}"#, ": not JSON: half a surrogate pair | both halves"),
      (
        #"{"mac":01}"#,
        ": not JSON: no value starts here | "
          + "an object, an array, a text, a number, true or false"
      ),
    ]
  )
  func oneMistake(text: String, problem: String) {
    #expect(problems(text) == [problem])
  }

  @Test("all mistakes of a document come together")
  func allTogether() {
    let text = #"{"uuid":"x","major":-1,"notifyOnEntry":1,"enter":{"samples":"2"}}"#
    let fields = problems(text).map { String($0.prefix { $0 != ":" }) }
    #expect(Set(fields) == ["uuid", "major", "notifyOnEntry", "enter.samples"])
  }

  @Test(
    "an identifier that cannot be published is refused",
    arguments: ["", " ", "a\nb", "\u{202E}x", String(repeating: "é", count: 65)]
  )
  func identifiers(identifier: String) {
    let found = problems(#"{"mac":"c0:00:00:00:00:01"}"#, identifier: identifier)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("id: the region's identifier is") == true)
  }

  @Test("an application says what for, and how many regions")
  func applications() throws {
    let text = #"{"id":"care","purpose":"to help","regionLimit":40}"#
    let document = try ApplicationSettings(json: Array(text.utf8), identifier: "care")
    #expect(document == ApplicationSettings(purpose: "to help", regionLimit: 40))
    #expect(try ApplicationSettings(json: Array("{}".utf8), identifier: "x") == ApplicationSettings())
    let reduced = #"{"accuracy":"floor","temporaryPurposes":{"way":"To show the way."}}"#
    #expect(
      try ApplicationSettings(json: Array(reduced.utf8), identifier: "x").accuracy
        == AccuracyPolicy(.floor, purposes: ["way": "To show the way."])
    )
    for wrong in [
      #"{"accuracy":"street"}"#, #"{"temporaryPurposes":{"way":" "}}"#, #"{"temporaryPurposes":{"":"x"}}"#,
      #"{"temporaryPurposes":["way"]}"#,
    ] {
      #expect(throws: DocumentError.self, "\(wrong)") {
        _ = try ApplicationSettings(json: Array(wrong.utf8), identifier: "x")
      }
    }
    for wrong in [#"{"purpose":" "}"#, #"{"regionLimit":0}"#, #"{"regionLimit":1001}"#, #"{"id":"y"}"#, "[]"]
    {
      #expect(throws: DocumentError.self, "\(wrong)") {
        _ = try ApplicationSettings(json: Array(wrong.utf8), identifier: "x")
      }
    }
  }

  @Test(
    "no damaged document crashes the reader, nor is one taken that says something else",
    arguments: Seeds.drawn(0..<40)
  )
  func fuzz(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      let region = DrawnRegion.region(using: &random)
      var damaged = bytes(region)
      for _ in 0..<Int.random(in: 1...4, using: &random) where !damaged.isEmpty {
        let at = Int.random(in: 0..<damaged.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: damaged.remove(at: at)
        case 1: damaged[at] = UInt8.random(in: .min ... .max, using: &random)
        default: damaged.insert(UInt8.random(in: .min ... .max, using: &random), at: at)
        }
      }
      guard let read = try? RegionDocument.region(json: damaged, identifier: region.identifier) else {
        continue
      }
      // What is taken is whole: it can be written and read again.
      #expect((try? RegionDocument.region(json: bytes(read), identifier: read.identifier)) == read)
    }
  }

  @Test("a document nested without end, or too long, is refused")
  func bombs() {
    #expect(problems(String(repeating: "[", count: 100_000)).first?.contains("deep") == true)
    let long = "[" + String(repeating: "1,", count: 600_000) + "1]"
    #expect(problems(long).first?.contains("longer than") == true)
  }
}
