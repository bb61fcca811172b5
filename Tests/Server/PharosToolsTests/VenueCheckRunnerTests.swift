import Foundation
import PharosFixes
import PharosRooms
import PharosSite
import PharosSpace
import PharosTerminal
import PharosTestSupport
import PharosTools
import Testing

@Suite("Check of a venue")
struct VenueCheckRunnerTests {
  private static let yaml = """
    id: house
    name: The house
    origin: { latitude: 48, longitude: 11 }
    buildings:
      - id: main
        floors:
          - level: 0
            name: Ground floor
            plan:
              image: ground.svg
              width: 1000
              height: 500
              anchors:
                - { pixel: [0, 500], latitude: 48, longitude: 11 }
                - { pixel: [1000, 500], latitude: 48, longitude: 11.000269 }
                - { pixel: [1000, 0], latitude: 48.00009, longitude: 11.000269 }
            walls:
              - { from: [0, 0], to: [20, 0], attenuation: 8 }
            beacons:
              - { mac: "c0:00:00:00:00:01", at: [40, 5] }
    connectors:
      - { id: lift, kind: lift, stops: [{ level: 0, at: [3, 4] }] }

    """

  private static func files(_ texts: [String: String]) -> VenueFiles {
    VenueFiles { name, limit throws(VenueFiles.Failure) in
      guard let text = texts[name] else { throw .missing }
      return Array(text.utf8.prefix(limit))
    }
  }

  private func check(_ texts: [String: String]) -> (status: CommandStatus, output: [String], errors: String) {
    let output = MemorySink()
    let errors = MemorySink()
    let runner = VenueCheckRunner(folder: "venues/house/") { _ in Self.files(texts) }
    let status = runner.run(on: Console(output: output, errors: errors))
    return (status, output.text.split(separator: "\n").map(String.init), errors.text)
  }

  @Test("the contents of a valid folder are listed, and what looks wrong")
  func right() {
    let outcome = check(["venue.yaml": Self.yaml, "ground.svg": "<svg/>"])
    #expect(outcome.status == .success)
    #expect(outcome.errors.isEmpty)
    #expect(
      outcome.output == [
        "venues/house/: venue \"house\" (The house): 1 building, 1 floor, 1 connector, 0 entrances, 1 beacon, "
          + "0 observers, 0 access points",
        "  floor main/0 \"Ground floor\": 20 × 0 m, 0 walkable areas (0 m²), 0 obstacles, 1 wall (20 m)",
        "    plan ground.svg: 1000 × 500 pixels, 0.02 m a pixel, upper edge faces 0°, 3 anchors, off by 0, "
          + "0, 0 m (root mean square 0 m)",
        "  lift \"lift\": main/0",
        "venues/house/: warning: floor main/0: beacon mac:c0:00:00:00:00:01 hangs 19.9 m outside of it: are its "
          + "numbers swapped, or its floor another?",
        "venues/house/: warning: floor main/0: nothing says where one can walk: walls alone will guide fixes",
        "venues/house/: warning: connector \"lift\" joins nothing: it needs two stops or more",
        "venues/house/: warning: no floor has an entrance: where satellites take over is not known",
        "venues/house/: No mistakes, 4 warnings.",
      ]
    )
  }

  @Test("a wrong folder gives 78 and one line for each mistake")
  func wrong() {
    let outcome = check(["venue.yaml": Self.yaml.replacing("kind: lift", with: "kind: chute")])
    #expect(outcome.status == .configuration)
    #expect(
      outcome.output == [
        "venues/house/venue.yaml:10: building \"main\": floor 0: plan: ground.svg: there is no such file (expected an image "
          + "in the venue's folder)",
        "venues/house/venue.yaml:22: connector \"lift\": kind is \"chute\" (expected stairs, lift, escalator or ramp)",
      ]
    )
    #expect(outcome.errors == "venues/house/: 2 mistakes.\n")
  }

  @Test("a site's venues are checked with it, counted from its folder")
  func site() {
    let output = MemorySink()
    let errors = MemorySink()
    let site = "venues: [ venues/house/, elsewhere ]"
    let runner = CheckRunner(path: "sites/site.yaml", bytes: Array(site.utf8)) { folder in
      Self.files(folder == "sites/venues/house/" ? ["venue.yaml": Self.yaml, "ground.svg": "<svg/>"] : [:])
    }
    #expect(runner.run(on: Console(output: output, errors: errors)) == .configuration)
    #expect(output.text.contains("sites/venues/house/: No mistakes, 4 warnings.\n"))
    #expect(output.text.contains("sites/elsewhere/venue.yaml: there is no such file"))
    #expect(errors.text == "sites/elsewhere: 1 mistake.\n")
  }

  @Test("a folder on the disk is checked as a venue, missing files are reported")
  func disk() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "venue-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func check() -> (status: CommandStatus, output: String) {
      let output = MemorySink()
      let console = Console(output: output, errors: MemorySink())
      return (CheckRunner.run(path: folder.path, console: console), output.text)
    }
    #expect(check().status == .configuration)
    #expect(check().output.contains("venue.yaml: there is no such file"))
    try Data(Self.yaml.utf8).write(to: folder.appending(path: "venue.yaml"))
    #expect(check().output.contains("ground.svg: there is no such file"))
    try Data("<svg/>".utf8).write(to: folder.appending(path: "ground.svg"))
    #expect(check().status == .success)
    #expect(check().output.contains("\(folder.path): No mistakes, 4 warnings."))
  }

  @Test("a plan that walks showed to be turned is a warning")
  func turned() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("")
    _ = try folder.write(Self.yaml, to: "venue.yaml")
    _ = try folder.write("<svg/>", to: "ground.svg")
    let (venue, _) = try VenueFolder.read(path, files: .disk(path))
    var map = RadioMap(placed: venue)
    map.turns = [PlanTurn(floor: try #require(venue.floors.first?.id), radians: 0.7, walks: 6)]
    try Data(map.encoded()).write(to: URL(filePath: folder.path(VenueFolder.radioMapFile)))
    let output = MemorySink()
    let runner = VenueCheckRunner(folder: path)
    #expect(runner.run(on: Console(output: output, errors: MemorySink())) == .success)
    #expect(output.text.contains("/0: on the plan 6 walks went 40° clockwise of their compass headings."))
  }

  /// A zip archive of the files of a venue, packed by Deflate, in a folder in the archive.
  private static let archive = Data(base64Encoded: packed, options: .ignoreUnknownCharacters) ?? Data()

  private static let packed = """
    UEsDBBQAAAAIAAAAIVwgWXOfeQAAAJ4AAAAQAAAAaG91c2UvdmVudWUueWFtbC2MSwrDMBBD9z6FDuBCUrooPkd3pQsXO87A2AP+tIuQu3doAl
    roSUIUHFYZLZric3R4rPFkqZSoOGxg36mPoO3tbsFS0onzjN28B3GgkpozwEXnpJfZU7FYWKQ2h6d+xE9kh8ni65mPbKmS1Wg2vSy6qL/+Afsh
    8wNQSwECFAMUAAAACAAAACFcIFlzn3kAAACeAAAAEAAAAAAAAAAAAAAAgAEAAAAAaG91c2UvdmVudWUueWFtbFBLBQYAAAAAAQABAD4AAACnAA
    AAAAA=
    """

  @Test("a zip archive is read as a folder, and one that is damaged or encrypted is refused with what to do")
  func zip() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("venue.zip")
    func check(_ bytes: Data) throws -> (status: CommandStatus, text: String) {
      try bytes.write(to: URL(filePath: path))
      let (output, errors) = (MemorySink(), MemorySink())
      let status = CheckRunner.run(path: path, console: Console(output: output, errors: errors))
      return (status, output.text + errors.text)
    }
    let right = try check(Self.archive)
    #expect(right.status == .success, "\(right.text)")
    #expect(right.text.contains("venue.zip: venue \"house\" (The house): 1 building, 1 floor"))
    let venues = try LoadedVenues([path], console: Console(output: MemorySink(), errors: MemorySink()))
    #expect(venues.locatable.map(\.venue.identifier) == ["house"])
    #expect(venues.changedFolders().isEmpty)
    var damaged = Self.archive
    damaged[60] ^= 0xFF
    let wrong = try check(damaged)
    #expect(wrong.status == .configuration && wrong.text.contains("unzip -t"), "\(wrong.text)")
    var encrypted = Self.archive
    let directory = try #require(encrypted.range(of: Data([0x50, 0x4B, 1, 2])))
    encrypted[directory.lowerBound + 8] |= 1
    let locked = try check(encrypted)
    #expect(
      locked.status == .configuration && locked.text.contains("unpack it into a folder"),
      "\(locked.text)"
    )
    for length in [10, 100, Self.archive.count - 10] {
      let cut = try check(Self.archive.prefix(length))
      #expect(cut.status == .configuration, "\(length): \(cut.text)")
    }
  }
}
