import Foundation
import PharosConsoleSupport
import PharosModel
import PharosSite
import PharosTerminal
import PharosTestSupport
import PharosTools
import Testing

@Suite("Check")
struct CheckRunnerTests {
  private func check(_ text: String) -> (status: CommandStatus, output: String, errors: String) {
    let output = MemorySink()
    let errors = MemorySink()
    let runner = CheckRunner(path: "site.yaml", bytes: Array(text.utf8))
    let status = runner.run(on: Console(output: output, errors: errors))
    return (status, output.text, errors.text)
  }

  @Test("the contents of a valid file are listed")
  func right() {
    let outcome = check(StarterSite.text)
    #expect(outcome.status == .success)
    #expect(
      outcome.output
        == "site.yaml: 1 application, 3 regions, 0 observers, 1 beacon, 0 zones. No mistakes.\n"
    )
    #expect(outcome.errors.isEmpty)
  }

  @Test("a wrong file gives 78 and one line for each mistake")
  func wrong() {
    let outcome = check("regions:\n  - { id: a }\nfoo: 1")
    #expect(outcome.status == .configuration)
    #expect(outcome.output.split(separator: "\n").count == 2)
    #expect(outcome.errors == "site.yaml: 2 mistakes. Nothing was started.\n")
  }

  @Test("an address that others reach needs a token")
  func machine() throws {
    let folder = try TemporaryFolder()
    func check(_ text: String) throws -> (status: CommandStatus, said: String) {
      let kept = KeptConsole()
      let status = CheckRunner.run(path: try folder.write(text, to: "site.yaml"), console: kept.console)
      return (status, kept.output.text + kept.errors.text)
    }
    let http = "listen: { http: \"127.0.0.1:8080\" }\n"
    let open = try check("data: kept\nlisten:\n  http: \"0.0.0.0:8080\"\n")
    #expect(open.status == .success)
    #expect(open.said.contains("site.yaml:3: warning: listen.http: other machines reach 0.0.0.0:8080"))
    #expect(open.said.contains("pharos token create --operator --data "))
    #expect(!(try check(http).said.contains("token")))
  }

  @Test(
    "the reason why a file of a geofence cannot be read stands in the mistake",
    arguments: [
      ("../yard.geojson", "it is not beside the site file"),
      ("/yard.geojson", "it is not beside the site file"),
      ("none.geojson", "none.geojson"),
    ]
  )
  func unreadableFile(name: String, reason: String) throws {
    let text = "regions: [{ id: yard, kind: polygon, file: \(name) }]"
    let folder = try TemporaryFolder()
    let kept = KeptConsole()
    let status = try withExtendedLifetime(folder) {
      CheckRunner.run(path: try folder.write(text, to: "site.yaml"), console: kept.console)
    }
    #expect(status == .configuration)
    let said = kept.output.text + kept.errors.text
    #expect(said.contains("\(name) cannot be read: ") && said.contains(reason), "\(said)")
    #expect(!said.contains("CommandFailure") && !said.contains("FileError"), "\(said)")
  }

  @Test("a geofence below the smallest useful radius of its venue is named, a larger one is not")
  func smallGeofence() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path("house"), withIntermediateDirectories: true)
    let beacons = [(2, 2), (28, 2), (2, 28), (28, 28)].enumerated().map { number, place in
      "- { mac: \"c0:00:00:00:00:0\(number)\", at: [\(place.0), \(place.1)] }"
    }
    _ = try folder.write(
      """
      id: house
      origin: { latitude: 48, longitude: 11 }
      buildings:
        - id: main
          floors:
            - level: 0
              walls: [{ from: [0, 0], to: [30, 0] }, { from: [30, 0], to: [30, 30] }, { from: [0, 30], to: [0, 0] }]
              beacons: [\(beacons.map { String($0.dropFirst(2)) }.joined(separator: ", "))]
      """,
      to: "house/venue.yaml"
    )
    let site = try folder.write(
      """
      venues: [house/]
      regions:
        - { id: desk, kind: circle, latitude: 48.00013, longitude: 11.0002, radius: 2m }
        - { id: hall, kind: circle, latitude: 48.00013, longitude: 11.0002, radius: 15m }
      """,
      to: "site.yaml"
    )
    let kept = KeptConsole()
    #expect(CheckRunner.run(path: site, console: kept.console) == .success)
    #expect(kept.errors.text.contains("region \"desk\": its radius of 2"), "\(kept.errors.text)")
    #expect(!kept.errors.text.contains("hall"), "\(kept.errors.text)")
  }

  @Test(
    "a geofence with heights is named where its venue states none that it counts in",
    arguments: [false, true],
    [false, true]
  )
  func heights(hasAltitude: Bool, hasGeoid: Bool) throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path("house"), withIntermediateDirectories: true)
    _ = try folder.write(
      """
      id: house
      origin: { latitude: 48, longitude: 11 }
      \(hasGeoid ? "geoidHeight: 47" : "# no height of the geoid")
      buildings:
        - id: main
          floors:
            - level: 0
              \(hasAltitude ? "altitude: 36" : "# no altitude")
              walls: [{ from: [0, 0], to: [30, 0] }, { from: [30, 0], to: [30, 30] }, { from: [0, 30], to: [0, 0] }]
      """,
      to: "house/venue.yaml"
    )
    let place = "kind: circle, latitude: 48.00013, longitude: 11.0002, radius: 40m"
    let site = try folder.write(
      """
      venues: [house/]
      regions:
        - { id: sea, \(place), altitude: { from: 35m, to: 39m } }
        - { id: ellipsoid, \(place), altitude: { from: 82m, reference: ellipsoid } }
        - { id: upstairs, \(place), level: 1, altitude: { from: 35m, to: 39m } }
        - { id: plain, \(place) }
      """,
      to: "site.yaml"
    )
    let kept = KeptConsole()
    #expect(CheckRunner.run(path: site, console: kept.console) == .success)
    let named = ["sea", "ellipsoid", "upstairs", "plain"].filter {
      kept.errors.text.contains("region \"\($0)\": its heights decide nothing about subjects on main/0")
    }
    #expect(
      named == (hasAltitude ? hasGeoid ? [] : ["ellipsoid"] : ["sea", "ellipsoid"]),
      "\(kept.errors.text)"
    )
  }

  @Test("without a venue an area that needs one is named with what it needs")
  func needOfVenue() throws {
    let folder = try TemporaryFolder()
    let place = "kind: circle, latitude: 48.00013, longitude: 11.0002, radius: 40m"
    let site = try folder.write(
      """
      regions:
        - { id: sea, \(place), altitude: { from: 35m, to: 39m } }
        - { id: yard, \(place) }
      """,
      to: "site.yaml"
    )
    let kept = KeptConsole()
    #expect(CheckRunner.run(path: site, console: kept.console) == .success)
    #expect(
      kept.errors.text.contains("region \"sea\" counts heights from mean sea level"),
      "\(kept.errors.text)"
    )
    #expect(!kept.errors.text.contains("yard"), "\(kept.errors.text)")
  }
}
