import PharosCaptures
import PharosDocuments
import PharosModel
import PharosSite
import PharosSpace
package import PharosTerminal

/// `pharos survey init`: makes a venue's folder from floors as open data sets of indoor traces have them.
///
/// The floors lie in folders of a site each, in them a folder for each floor called `F1`, `G`, `B1` and so on, which holds
/// `floor_image.png`, `floor_info.json` and `geojson_map.json`. A site becomes a building. The files are copied, since a
/// venue's folder is handed on whole.
package struct SurveyInitRunner: Sendable {
  private let floors: String
  private let output: String
  private let traces: [String]

  /// The files of a floor.
  private static let files = ["floor_info.json", "geojson_map.json", "floor_image.png"]

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - floors: the folder of sites.
  ///   - output: the venue's folder, made if it is not there.
  ///   - traces: files and folders of traces whose headers name sites; may be empty.
  package init(floors: String, output: String, traces: [String] = []) {
    self.floors = floors
    self.output = output
    self.traces = traces
  }

  private struct Found {
    let building: String
    let floors: [(level: Int, name: String, folder: String)]
  }

  /// Writes the folder, checks it and says what it holds.
  ///
  /// - Returns: 0; 1 if there is a venue already or something cannot be read or written; 78 if the floors are wrong.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      let main = SurveyPictures.path(VenueFolder.mainFile, in: output)
      guard !FileOutput.exists(main) else {
        throw CommandFailure(
          "\(main) exists already and is not changed. Name another folder, or move it away."
        )
      }
      let found = try found(console)
      let names = try names(of: found)
      for building in found { try copy(building) }
      try FileOutput.write(yaml(found, names: names).utf8, to: main)
      let venue = try VenueContents.venue(in: output, console: console)
      let many = Wording.count(venue.floors.count, "floor")
      try console.print("Wrote \(main): \(Wording.count(found.count, "building")), \(many).")
      for (id, floor) in venue.floors {
        let size = floor.extent.map { "\(Wording.meters($0.width)) × \(Wording.meters($0.height))" } ?? ""
        try console.print("  \(id) \"\(floor.name)\": \(size)")
      }
      try console.print("Look at it, then: pharos survey learn TRACES -o \(output)")
      return .success
    }
  }

  /// The floors; a folder that is left out is named on the console with the reason.
  private func found(_ console: Console) throws(CommandFailure) -> [Found] {
    var buildings: [Found] = []
    for site in TraceFile.entries(of: floors) ?? [] {
      var levels: [(level: Int, name: String, folder: String)] = []
      let contents = (TraceFile.entries(of: "\(floors)/\(site)") ?? []).compactMap { name in
        TraceFile.entries(of: "\(floors)/\(site)/\(name)").map { (name: name, files: $0) }
      }
      let complete = contents.filter { Set($0.files).isSuperset(of: SurveyInitRunner.files) }
      let numbers = FloorWord.levels(of: complete.map(\.name))
      for (name, files) in contents {
        let folder = "\(floors)/\(site)/\(name)"
        switch numbers[name] {
        case .success(let level)?: levels.append((level, name, folder))
        case .failure(let refusal)?:
          console.say(
            "\(folder): warning: left out: \(refusal). Rename it to the number of its level, 0 for the ground floor."
          )
        case nil:
          let missing = SurveyInitRunner.files.filter { !files.contains($0) }
          console.say("\(folder): warning: left out: it has no \(Wording.list(missing)).")
        }
      }
      levels.sort { $0.level < $1.level }
      for (one, next) in zip(levels, levels.dropFirst()) where one.level == next.level {
        throw CommandFailure(
          "\(one.folder) and \(next.folder) are the same floor, \(one.level). Move one of them away.",
          status: .configuration
        )
      }
      if !levels.isEmpty { buildings.append(Found(building: site, floors: levels)) }
    }
    guard !buildings.isEmpty else {
      throw CommandFailure(
        "\(floors) holds no floor (expected SITE/FLOOR/ with \(Wording.list(SurveyInitRunner.files)), FLOOR being "
          + "F1, G, B1 and so on).",
        status: .configuration
      )
    }
    return buildings
  }

  /// Returns the sites' names in the headers of traces, by the folders of the sites in which the traces lie.
  private func names(of found: [Found]) throws(CommandFailure) -> [String: String] {
    guard !traces.isEmpty else { return [:] }
    var names: [String: String] = [:]
    for file in try TraceFile.find(traces) {
      guard let site = file.folders.first(where: { folder in found.contains { $0.building == folder } }),
        names[site] == nil
      else { continue }
      names[site] = try file.truth().header.siteName
    }
    return names
  }

  private func copy(_ building: Found) throws {
    for floor in building.floors {
      let folder = SurveyPictures.path("floors/\(building.building)/\(floor.name)", in: output)
      try FileOutput.makeFolder(folder)
      for name in SurveyInitRunner.files {
        let bytes = try WholeFile.read("\(floor.folder)/\(name)", limit: VenueFiles.largest)
        try FileOutput.write(bytes, to: "\(folder)/\(name)")
      }
    }
  }

  private func yaml(_ found: [Found], names: [String: String]) -> String {
    let parts = output.split(separator: "/").filter { $0 != "." && $0 != ".." }
    let id = parts.last.map(String.init) ?? "venue"
    var text = """
      # Made by `pharos survey init` from the floors of a survey. A site is a building, x and y are metres from the
      # lower left corner of a floor's picture. Stairs, lifts and escalators are not in the survey's files. If people
      # change floors, add them as `connectors` with their stops.
      id: \(EscapedText.yaml(id))
      buildings:

      """
    for building in found {
      text += "  - id: \(EscapedText.yaml(building.building))\n"
      if let name = names[building.building] { text += "    name: \(EscapedText.yaml(name))\n" }
      text += "    floors:\n"
      for floor in building.floors {
        let folder = EscapedText.yaml("floors/\(building.building)/\(floor.name)")
        let name = EscapedText.yaml(floor.name)
        text += "      - { level: \(floor.level), name: \(name), surveyFolder: \(folder) }\n"
      }
    }
    return text
  }
}
