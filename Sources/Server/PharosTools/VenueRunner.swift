import PharosDocuments
import PharosMaps
import PharosModel
import PharosSite
import PharosSpace
package import PharosTerminal

/// `pharos venue bundle`: writes a venue's folder into one file for devices without a network.
package struct VenueBundleRunner: Sendable {
  private let folder: String
  private let output: String
  private let zooms: ClosedRange<Int>?
  private let routes: [Ends]

  /// The ends of a route.
  package struct Ends: Hashable, Sendable {
    let from: String
    let to: String

    /// Makes the ends of their ids or names.
    package init(from: String, to: String) {
      self.from = from
      self.to = to
    }
  }

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - folder: the venue's folder.
  ///   - output: the bundle's file.
  ///   - zooms: the zooms of its tiles; nil for the usual ones.
  ///   - routes: routes to store beside those between places.
  package init(folder: String, output: String, zooms: ClosedRange<Int>? = nil, routes: [Ends] = []) {
    self.folder = folder
    self.output = output
    self.zooms = zooms
    self.routes = routes
  }

  /// Writes the bundle and prints what it holds.
  ///
  /// - Returns: 0; 1 if a file cannot be read or written; 78 if the folder has mistakes.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      let venue = try VenueContents.venue(in: folder, console: console)
      try VenueBundleRunner.translate {
        var writer = BundleWriter(venue) { name in try VenueFiles.disk(folder).whole(name) }
        writer.zooms = zooms
        writer.askedRoutes = routes.map { ($0.from, $0.to) }
        try writer.write(to: output)
      }
      try console.print("Wrote \(output): \(try VenueBundleRunner.summary(of: output)).")
      return .success
    }
  }

  /// What a bundle holds in one line.
  static func summary(of path: String) throws(CommandFailure) -> String {
    try translate {
      let bundle = try VenueBundle(path: path)
      let floors = Wording.count(bundle.floors.count, "floor")
      let places = Wording.count(try bundle.places().count, "place")
      return PlainText.clean("venue \(bundle.venue), \(floors), \(places), version \(bundle.contentVersion)")
    }
  }

  /// Runs an operation on bundles; what goes wrong ends the command with its text.
  static func translate<Result>(_ operation: () throws -> Result) throws(CommandFailure) -> Result {
    do {
      return try operation()
    } catch {
      throw CommandFailure(PlainText.clean("\(error)"))
    }
  }
}

/// `pharos venue delta`: writes what changed between two bundles.
package struct VenueDeltaRunner: Sendable {
  private let old: String
  private let new: String
  private let output: String

  /// Makes a runner that leads from one bundle to another.
  package init(from old: String, to new: String, output: String) {
    self.old = old
    self.new = new
    self.output = output
  }

  /// Writes the delta.
  ///
  /// - Returns: 0; 1 if a file cannot be read or written.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      try VenueBundleRunner.translate { try BundleDelta.write(from: old, to: new, at: output) }
      try console.print("Wrote \(output), which leads from \(old) to \(new).")
      return .success
    }
  }
}

/// `pharos venue patch`: applies a delta to a bundle.
package struct VenuePatchRunner: Sendable {
  private let old: String
  private let delta: String
  private let output: String

  /// Makes a runner that applies a delta to a bundle, which stays as it is.
  package init(_ old: String, with delta: String, output: String) {
    self.old = old
    self.delta = delta
    self.output = output
  }

  /// Writes the new bundle.
  ///
  /// - Returns: 0; 1 if a file cannot be read or written, or the delta is for another bundle.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      _ = try VenueBundleRunner.translate { try BundleDelta.apply(delta, to: old, at: output) }
      try console.print("Wrote \(output): \(try VenueBundleRunner.summary(of: output)).")
      return .success
    }
  }
}
