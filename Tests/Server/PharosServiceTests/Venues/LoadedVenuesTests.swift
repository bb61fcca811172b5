import Foundation
import PharosFixes
import PharosHTTP
import PharosModel
import PharosService
import PharosSite
import PharosSpace
import PharosTerminal
import PharosTools
import Testing

@Suite("Venues of a site")
struct LoadedVenuesTests {
  private static func yaml(_ id: String, level: Int = 0) -> String {
    """
    id: \(id)
    origin: { latitude: 48, longitude: 11 }
    buildings:
      - id: main
        floors:
          - level: \(level)
            name: A floor
            walls:
              - { from: [0, 0], to: [20, 10], attenuation: 8 }
            accessPoints:
              - { bssid: "c0:00:00:00:00:01", at: [4, 5] }

    """
  }

  /// A folder on the disk with files of these names and contents, while the body runs.
  private static func withFolder<Result>(
    _ files: [String: [UInt8]],
    _ body: (String) throws -> Result
  ) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "venue-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, bytes) in files { try Data(bytes).write(to: folder.appending(path: name)) }
    return try body(folder.path)
  }

  /// The radio map of the venue that a description makes.
  private static func map(_ yaml: String) throws -> [UInt8] {
    try withFolder(["venue.yaml": Array(yaml.utf8)]) { folder in
      let (venue, _) = try VenueFolder.read(folder, files: .disk(folder))
      return RadioMap(placed: venue).encoded()
    }
  }

  private static func load(
    _ folders: [String]
  ) -> (venues: LoadedVenues?, said: String, failure: CommandFailure?) {
    let errors = MemorySink()
    let console = Console(output: MemorySink(), errors: errors)
    do throws(CommandFailure) {
      return (try LoadedVenues(folders, console: console), errors.text, nil)
    } catch {
      return (nil, errors.text, error)
    }
  }

  @Test("a folder without a radio map is accepted, and the source of levels is logged")
  func placed() throws {
    try LoadedVenuesTests.withFolder(["venue.yaml": Array(LoadedVenuesTests.yaml("house").utf8)]) { folder in
      let (venues, said, failure) = LoadedVenuesTests.load([folder])
      #expect(failure == nil)
      #expect(venues?.locatable.map(\.venue.identifier) == ["house"])
      #expect(venues?.served.count == 1)
      #expect(said.contains("there is no radio-map.pharos: levels are taken from where"))
      #expect(venues?.changedFolders() == [])
    }
  }

  @Test("a radio map that was learned is taken, and what changes in the folder is noticed")
  func learned() throws {
    let yaml = LoadedVenuesTests.yaml("house")
    let map = try LoadedVenuesTests.map(yaml)
    try LoadedVenuesTests.withFolder(["venue.yaml": Array(yaml.utf8), "radio-map.pharos": map]) { folder in
      let (venues, said, failure) = LoadedVenuesTests.load([folder])
      #expect(failure == nil)
      #expect(said.isEmpty)
      #expect(venues?.entries.first?.contents.radio?.emitters.count == 1)
      #expect(venues?.changedFolders() == [])
      let moved = yaml.replacing("at: [4, 5]", with: "at: [4, 6]")
      try Data(moved.utf8).write(to: URL(filePath: folder).appending(path: "venue.yaml"))
      #expect(venues?.changedFolders() == [folder])
    }
  }

  @Test("a map that is damaged, or another venue's, refuses the folder with 78 and says so")
  func wrong() throws {
    let yaml = Array(LoadedVenuesTests.yaml("house").utf8)
    var damaged = try LoadedVenuesTests.map(LoadedVenuesTests.yaml("house"))
    damaged[damaged.count - 1] ^= 1
    let other = try LoadedVenuesTests.map(LoadedVenuesTests.yaml("house", level: 3))
    for (map, reason) in [(damaged, "damaged"), (other, "floor main/3"), ([1, 2, 3], "no radio map")] {
      try LoadedVenuesTests.withFolder(["venue.yaml": yaml, "radio-map.pharos": map]) { folder in
        let (_, said, failure) = LoadedVenuesTests.load([folder])
        #expect(failure?.status == .configuration)
        #expect(said.contains("radio-map.pharos: "))
        #expect(said.contains(reason), "\(said)")
        let output = MemorySink()
        let runner = VenueCheckRunner(folder: folder)
        #expect(runner.run(on: Console(output: output, errors: MemorySink())) == .configuration)
        #expect(output.text.contains(reason))
      }
    }
  }

  @Test("two venues of one name are refused, and so is a folder that is not there")
  func names() throws {
    let yaml = Array(LoadedVenuesTests.yaml("house").utf8)
    try LoadedVenuesTests.withFolder(["venue.yaml": yaml]) { one in
      try LoadedVenuesTests.withFolder(["venue.yaml": yaml]) { two in
        let failure = LoadedVenuesTests.load([one, two]).failure
        #expect(failure?.status == .configuration)
        #expect(failure?.message.contains("is called \"house\"") == true)
      }
    }
    #expect(LoadedVenuesTests.load(["/nowhere/at/all"]).failure?.status == .configuration)
  }
}
