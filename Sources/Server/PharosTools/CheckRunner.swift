import PharosDelivery
import PharosDocuments
import PharosFixes
import PharosJournal
import PharosModel
import PharosService
import PharosSite
package import PharosSpace
import PharosStays
package import PharosTerminal
import PharosWays

/// `pharos check`: every mistake of a site file and of its venues at once, with its line.
package struct CheckRunner: Sendable {
  private let path: String
  private let bytes: [UInt8]
  private let files: (@Sendable (String) -> VenueFiles)?

  /// Checks the bytes of a file that messages call by its path.
  ///
  /// - Parameters:
  ///   - path: the path of the file; the folders of its venues are relative to the folder of the file.
  ///   - bytes: the contents of the file.
  ///   - files: opens the folder of a venue; nil for the disk.
  package init(path: String, bytes: [UInt8], files: (@Sendable (String) -> VenueFiles)? = nil) {
    self.path = path
    self.bytes = bytes
    self.files = files
  }

  /// Prints problems on the output, or what the file holds if there are no mistakes.
  ///
  /// - Returns: 0, or 78 if the file cannot be used.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      do {
        let configuration = try SiteFile.parse(
          bytes: bytes,
          path: path,
          files: SiteLoader.files(beside: path)
        )
        let found = files == nil ? MachineCheck(configuration, path: path).problems : []
        for problem in configuration.warnings + found { try console.print(problem, in: path) }
        if let warning = KeyExposure.warning(path, configuration) {
          try console.print(warning, isMistake: false)
        }
        if let reason = MQTTLinks.refusal(of: configuration) {
          try console.print("\(path): warning: \(reason)", isMistake: false)
        }
        let mistakes = found.count { $0.severity == .mistake }
        guard mistakes == 0 else {
          console.say("\(path): \(Wording.count(mistakes, "mistake")). Nothing was started.")
          _ = checkVenues(of: configuration, on: console)
          return .configuration
        }
        try console.print("\(path): \(summary(of: configuration)). No mistakes.")
        return checkVenues(of: configuration, on: console)
      } catch let error as DocumentError {
        for problem in error.problems { try console.print(problem, in: path) }
        let count = error.problems.count { $0.severity == .mistake }
        console.say("\(path): \(Wording.count(count, "mistake")). Nothing was started.")
        return .configuration
      }
    }
  }

  /// Checks each venue that the site names.
  ///
  /// - Returns: 0, or 78 if one of them cannot be used.
  private func checkVenues(of configuration: SiteConfiguration, on console: Console) -> CommandStatus {
    var status = CommandStatus.success
    for folder in configuration.resolved(against: path).venues
    // One that is not there is a mistake of the site file.
    where files != nil || FileOutput.isFolder(folder) || FileOutput.exists(folder) {
      let outcome = VenueCheckRunner(folder: folder, files: files).run(on: console)
      if outcome != .success { status = outcome }
    }
    if status == .success, files == nil { warnAboutGeofences(of: configuration, on: console) }
    return status
  }

  /// Warns about geofences that nothing can decide, and those that are smaller than the accuracy of fixes where they lie.
  private func warnAboutGeofences(of configuration: SiteConfiguration, on console: Console) {
    let regions = configuration.site.applications.flatMap(\.regions).filter { $0.geofence != nil }
    guard !regions.isEmpty,
      let venues = try? LoadedVenues(configuration.resolved(against: path).venues, console: .discarding)
    else { return }
    let coverages = venues.locatable.map { FixCoverage($0) }
    for region in regions {
      if coverages.isEmpty, let need = region.needOfVenue {
        console.say(
          "\(path): warning: region \"\(region.identifier)\" \(need.reason) Expected: \(need.expected). \(need.remedy)"
        )
      }
      guard let geofence = region.geofence, let circle = geofence.equivalentCircle else { continue }
      let floors = coverages.flatMap { $0.floorsWithoutHeight(for: geofence) }.map(\.description)
      if !floors.isEmpty {
        let missing = geofence.altitude?.reference == .ellipsoid ? "altitude and geoidHeight" : "altitude"
        console.say(
          "\(path): warning: region \"\(region.identifier)\": its heights decide nothing about subjects on "
            + "\(Wording.list(floors)) unless handsets report theirs, because the venue does not state \(missing) there. "
            + "State them in the venue, or give the region a level in place of heights."
        )
      }
      let useful = coverages.compactMap {
        $0.smallestUsefulRadius(at: circle.center, level: geofence.level, building: geofence.building)
      }.min()
      guard let useful, circle.radius < useful else { continue }
      let (radius, minimum) = (Wording.meters(circle.radius), Wording.meters(useful))
      console.say(
        "\(path): warning: region \"\(region.identifier)\": its radius of \(radius) is below the smallest useful one here, "
          + "\(minimum), because fixes are not more accurate than that. Make it larger, or survey the floor around it."
      )
    }
  }

  /// Reads a file and checks it, or the folder or zip archive of a venue.
  ///
  /// - Returns: 0, or 78 if the file or folder cannot be read or used.
  package static func run(path: String, console: Console) -> CommandStatus {
    if FileOutput.isFolder(path) || VenueFiles.isArchive(path) {
      return VenueCheckRunner(folder: path).run(on: console)
    }
    return console.run {
      let bytes = try WholeFile.read(path, limit: SiteFile.largest)
      return CheckRunner(path: path, bytes: bytes).run(on: console)
    }
  }

  private func summary(of configuration: SiteConfiguration) -> String {
    let site = configuration.site
    let regions = site.applications.reduce(0) { $0 + $1.regions.count }
    let parts = [
      Wording.count(site.applications.count, "application"),
      Wording.count(regions, "region"),
      Wording.count(site.observers.count, "observer"),
      Wording.count(site.beacons.count, "beacon"),
      Wording.count(site.zones.count, "zone"),
    ]
    return parts.joined(separator: ", ")
  }
}

/// The parts of a site file that only the machine can judge: what stops `serve` there, though the file is right.
private struct MachineCheck {
  private(set) var problems: [DocumentProblem] = []
  private let configuration: SiteConfiguration
  private let resolved: SiteConfiguration

  init(_ configuration: SiteConfiguration, path: String) {
    self.configuration = configuration
    resolved = configuration.resolved(against: path)
    problems = NamedFiles.mistakes(of: resolved)
    lookForToken()
  }

  private mutating func warn(_ key: String, _ message: String, expected: String) {
    problems.append(
      DocumentProblem(
        place: .line(configuration.lines[key] ?? 1),
        field: key,
        severity: .warning,
        message: message,
        expected: expected
      )
    )
  }

  /// An address that other machines reach needs a token, which lies in the data folder.
  private mutating func lookForToken() {
    guard let http = configuration.http, !http.isLoopback else { return }
    let message =
      "listen.http: other machines reach \(http), and there is no token yet, so that serve will not start"
    guard let data = resolved.data else {
      warn(
        "listen.http",
        message,
        expected:
          "data: pharos-data, and once `pharos token create --operator --data pharos-data`; or 127.0.0.1"
      )
      return
    }
    if FileOutput.exists("\(data)/journal.sqlite") {
      // A folder that is in use, or cannot be read, is another command's matter.
      guard let journal = try? DataFolder.open(data, stream: configuration.site.stream),
        let tokens = try? Tokens(store: journal).list()
      else { return }
      guard tokens.allSatisfy({ $0.hasExpired(at: .wallClock) }) else { return }
    }
    warn(
      "listen.http",
      message,
      expected: "once `pharos token create --operator --data \(data)`; or 127.0.0.1"
    )
  }
}

/// `pharos check` of a venue's folder: every mistake at once, then what the venue holds and what looks wrong in it.
package struct VenueCheckRunner: Sendable {
  private let folder: String
  private let files: @Sendable (String) -> VenueFiles

  /// Checks a folder on the disk, or files that come from elsewhere.
  ///
  /// - Parameters:
  ///   - folder: the folder, as messages call it.
  ///   - files: opens a folder; nil for the disk.
  package init(folder: String, files: (@Sendable (String) -> VenueFiles)? = nil) {
    self.folder = folder
    self.files = files ?? { VenueFiles.disk($0) }
  }

  /// Prints problems on the output, or what the venue holds if there are no mistakes.
  ///
  /// - Returns: 0, or 78 if the folder cannot be used.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      do {
        let (venue, warnings) = try VenueFolder.read(folder, files: files(folder))
        let radio = try VenueContents.radioMap(of: venue, in: folder, files(folder))
        for line in VenueReport(venue, folder: folder).lines { try console.print(PlainText.clean(line)) }
        if let radio {
          let emitters = Wording.count(radio.emitters.count, "emitter")
          let floors = Wording.count(radio.floors.count, "floor")
          let parts = ["\(emitters) on \(floors)"] + radio.radiusScales.map(\.description)
          try console.print("  radio map: \(parts.joined(separator: ", "))")
        }
        for warning in warnings { try console.print(warning, in: folder) }
        let findings = VenueCheck(venue).findings.map(\.description) + (radio?.turns.map(\.description) ?? [])
        for finding in findings {
          try console.print(PlainText.clean("\(folder): warning: \(finding)"), isMistake: false)
        }
        let count = warnings.count + findings.count
        let warned = count > 0 ? ", \(Wording.count(count, "warning"))" : ""
        try console.print("\(folder): No mistakes\(warned).")
        return .success
      } catch let error as DocumentError {
        for problem in error.problems { try console.print(problem, in: folder) }
        let count = error.problems.count { $0.severity == .mistake }
        console.say("\(folder): \(Wording.count(count, "mistake")).")
        return .configuration
      }
    }
  }
}

extension Console {
  /// Prints a mistake in red, or a warning in yellow.
  fileprivate func print(_ problem: DocumentProblem, in path: String) throws(OutputError) {
    try print(problem.text(in: path), isMistake: problem.severity == .mistake)
  }
}

/// A summary of what a venue holds, in lines of text for its author.
struct VenueReport {
  private let venue: Venue
  private let folder: String

  init(_ venue: Venue, folder: String) {
    self.venue = venue
    self.folder = folder
  }

  /// The contents of the venue, then each floor with its plan, then each connector.
  var lines: [String] {
    let floors = venue.floors
    let name = venue.name == venue.identifier ? "" : " (\(venue.name))"
    let parts = [
      Wording.count(venue.buildings.count, "building"),
      Wording.count(floors.count, "floor"),
      Wording.count(venue.connectors.count, "connector"),
      Wording.count(floors.reduce(0) { $0 + $1.floor.entrances.count }, "entrance"),
      Wording.count(floors.reduce(0) { $0 + $1.floor.beacons.count }, "beacon"),
      Wording.count(floors.reduce(0) { $0 + $1.floor.observers.count }, "observer"),
      Wording.count(floors.reduce(0) { $0 + $1.floor.accessPoints.count }, "access point"),
    ]
    return ["\(folder): venue \"\(venue.identifier)\"\(name): \(parts.joined(separator: ", "))"]
      + floors.flatMap { self.lines(of: $0.floor, $0.id) } + venue.connectors.map(line) + hoursLine
  }

  /// The local time by which opening hours are read, if there are any.
  private var hoursLine: [String] {
    guard venue.hasOpeningHours else { return [] }
    let local = venue.localTime
    let minutes = local.utcOffset.magnitude
    let offset =
      "UTC\(local.utcOffset < 0 ? "-" : "+")\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
    return switch local.source {
    case .none: ["  opening hours: read as UTC"]
    case .stated:
      ["  opening hours: in the time of \(local.zone ?? "\(offset), without daylight saving time")"]
    case .place:
      [
        "  opening hours: in the time of \(local.zone ?? offset), by the place of the venue; timeZone states another"
      ]
    }
  }

  private func lines(of floor: Floor, _ id: FloorID) -> [String] {
    let names = floor.names.isEmpty ? "" : " \"\(floor.names.joined(separator: "\", \""))\""
    let size = floor.extent.map { "\(Self.text($0.width)) × \(Self.text($0.height)) m" } ?? "nothing drawn"
    let walkable = floor.walkable.reduce(0) { $0 + $1.size }
    let walls = floor.walls.all.reduce(0) { $0 + $1.segment.length }
    let parts = [
      size,
      "\(Wording.count(floor.walkable.count, "walkable area")) (\(Self.text(walkable)) m²)",
      Wording.count(floor.obstacles.count, "obstacle"),
      "\(Wording.count(floor.walls.all.count, "wall")) (\(Self.text(walls)) m)",
    ]
    return ["  floor \(id)\(names): \(parts.joined(separator: ", "))"]
      + (floor.plan.map { [line(of: $0)] } ?? [])
  }

  private func line(of plan: FloorPlan) -> String {
    let alignment = plan.alignment
    let bearing = Self.text(alignment.bearing)
    var parts = [
      "\(plan.width) × \(plan.height) pixels",
      "\(Self.text(alignment.metersPerPixel, decimals: 4)) m a pixel",
      "upper edge faces \(bearing == "360" ? "0" : bearing)°",
      Wording.count(alignment.anchors.count, "anchor"),
    ]
    if alignment.anchors.count > PlanAlignment.minimumAnchors {
      let residuals = alignment.residuals.map { Self.text($0, decimals: 2) }.joined(separator: ", ")
      parts.append(
        "off by \(residuals) m (root mean square \(Self.text(alignment.rootMeanSquare, decimals: 2)) m)"
      )
    }
    return "    plan \(plan.image): \(parts.joined(separator: ", "))"
  }

  private func line(of connector: Connector) -> String {
    let floors = connector.stops.map(\.floor.description).joined(separator: ", ")
    return "  \(connector.kind.rawValue) \"\(connector.identifier)\": \(floors.isEmpty ? "no stop" : floors)"
  }

  /// A number with so many decimals at most.
  private static func text(_ number: Double, decimals: Int = 1) -> String {
    let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
    let rounded = (number * scale).rounded() / scale
    return rounded == rounded.rounded() && rounded.magnitude < 1e15 ? "\(Int(rounded))" : "\(rounded)"
  }
}
