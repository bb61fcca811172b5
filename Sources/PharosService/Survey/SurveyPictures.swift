import PharosPlaces
import PharosSite

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writes the pictures of a score into a folder: one for each walk, and one of all errors for each floor.
struct SurveyPictures {
  let folder: String
  let venue: Venue
  /// The floor of each trace.
  let places: [String: FloorID]

  /// Draws everything.
  func draw(_ rows: [ScoredWaypoint], fixes: FixTable, console: Console) throws {
    try FileOutput.makeFolder(folder)
    var strays = 0
    var floors: [FloorID: [ScoredWaypoint]] = [:]
    for (trace, walked) in Dictionary(grouping: rows, by: \.trace).sorted(by: { $0.key < $1.key }) {
      guard let id = places[trace], let floor = venue.floor(id) else {
        strays += 1
        continue
      }
      floors[id, default: []] += walked
      let picture = TrackPicture(walked, fixes: fixes.traces[trace] ?? [], on: floor, id)
      try write(picture.svg, to: "\(trace).svg")
    }
    for (id, walked) in floors.sorted(by: { $0.key < $1.key }) {
      guard let floor = venue.floor(id) else { continue }
      try write(ErrorPicture(walked, on: floor, id).svg, to: "errors-\(SurveyPictures.name(id)).svg")
    }
    let drawn = "\(Wording.count(places.count, "walk")) and \(Wording.count(floors.count, "floor"))"
    console.say("\(folder): pictures of \(drawn).")
    if strays > 0 {
      console.say(
        "\(Wording.count(strays, "trace")) could not be drawn: the venue has no such building or floor."
      )
    }
  }

  private func write(_ svg: String, to name: String) throws {
    let file = try FileOutput(path: SurveyPictures.path(name, in: folder))
    try file.write(Array(svg.utf8))
    try file.close()
  }

  /// The path of a file in a folder.
  static func path(_ name: String, in folder: String) -> String {
    folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
  }

  /// A floor in the name of a file.
  static func name(_ id: FloorID) -> String {
    let building = id.building.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" }
    return "\(String(building))-\(FloorWord.name(id.level))"
  }
}
