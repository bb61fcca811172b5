import PharosDocuments
import PharosModel
import PharosSite
import PharosSpace
import PharosTestSupport
import PharosWays
import Testing

@Suite("Venue folder, damaged")
struct VenueFuzzTests {
  /// Bytes that break structures: what files are made of, and what they are not.
  private static let bytes = Array("{}[]:,\"'-#&*!|>%@0159.eE \n\t\\".utf8) + [0x00, 0xFF, 0xC3]

  @Test(
    "damaged bytes give a venue or words, never a crash",
    arguments: ["venue.yaml", "ground.geojson", "imdf"]
  )
  func damaged(file: String) {
    var random = SeededGenerator(seed: UInt64(file.utf8.count))
    let whole = file == "imdf" ? IMDFTests.archive() : VenueFolderTests.house()
    let names = file == "imdf" ? whole.files.keys.sorted() : [file]
    var refused = 0
    for _ in 0..<120 {
      var venue = whole
      let name = names[Int.random(in: 0..<names.count, using: &random)]
      guard var bytes = venue.files[name] else { continue }
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let place = Int.random(in: 0..<max(1, bytes.count), using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes[place] = Self.bytes[Int.random(in: 0..<Self.bytes.count, using: &random)]
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(Self.bytes[Int.random(in: 0..<Self.bytes.count, using: &random)], at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 20))
        }
        if bytes.isEmpty { bytes = [0x20] }
      }
      venue.files[name] = bytes
      do {
        let read = try VenueFolder.read("v", files: venue.venueFiles).venue
        _ = VenueCheck(read)
      } catch {
        refused += 1
        #expect(error.problems.contains { $0.severity == .mistake })
        #expect(error.problems.allSatisfy { !$0.text(in: "v").contains("\n") })
      }
    }
    #expect(refused > 40)
  }

  @Test("a file that is too long, and one that cannot be opened, are reported as such")
  func unreadable() {
    let files = VenueFiles { name, limit throws(VenueFiles.Failure) in
      guard name == "venue.yaml" else { throw .missing }
      guard limit > 1 else { return [0x20] }
      throw .unreadable("the disk is gone")
    }
    #expect {
      try VenueFolder.read("v", files: files)
    } throws: { error in
      "\(error)" == "v/venue.yaml: the disk is gone (expected a file in the venue's folder)"
    }
  }

  @Test("a list of too many mistakes is cut off")
  func flood() {
    let beacons = (0..<5_000).map { _ in "{ at: x }" }.joined(separator: ", ")
    let venue = MemoryVenue([
      "venue.yaml": """
      id: a
      origin: { latitude: 1, longitude: 1 }
      buildings: [{ id: b, floors: [{ level: 0, beacons: [\(beacons)] }] }]
      """
    ])
    #expect(venue.problems().count == 200)
  }
}
