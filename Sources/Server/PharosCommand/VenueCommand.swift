import ArgumentParser
import PharosTerminal
import PharosTools

/// `pharos venue`.
struct VenueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "venue",
    abstract: "Make a bundle of a venue for devices without a network, and carry what changed.",
    discussion: """
      pharos venue bundle venues/museum/ -o museum.mbtiles
          the maps of all floors, places, stored routes and the walkable graph in one file, \
      which every reader of MBTiles opens.
      pharos venue delta old.mbtiles museum.mbtiles -o museum.delta
      pharos venue patch old.mbtiles museum.delta -o museum.mbtiles
      """,
    subcommands: [Bundle.self, Delta.self, Patch.self]
  )

  /// `pharos venue bundle`.
  struct Bundle: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Write a venue's folder into one file.")

    @Argument(help: ArgumentHelp("The venue's folder.", valueName: "venue/"))
    var venue: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The bundle to write.", valueName: "file"))
    var output: String

    @Option(
      help: ArgumentHelp(
        "The zooms of its tiles, such as 16-21. (default: up to about 5 cm a pixel)",
        valueName: "min-max"
      ),
      transform: zooms
    )
    var zoom: ClosedRange<Int>?

    @Option(
      help: ArgumentHelp(
        "A route to store beside those between places: ids or names of two places; may be repeated.",
        valueName: "from:to"
      ),
      transform: route
    )
    var route: [VenueBundleRunner.Ends] = []

    func run() throws {
      try VenueBundleRunner(folder: venue, output: output, zooms: zoom, routes: route).run(on: .standard())
        .leave()
    }

    private static func route(_ text: String) throws -> VenueBundleRunner.Ends {
      let ends = text.split(separator: ":", maxSplits: 1).map(String.init)
      guard ends.count == 2 else {
        throw ValidationError("it is no route; expected two places with a colon between them")
      }
      return VenueBundleRunner.Ends(from: ends[0], to: ends[1])
    }

    private static func zooms(_ text: String) throws -> ClosedRange<Int> {
      let numbers = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map { Int($0) }
      guard let low = numbers.first ?? nil, let high = numbers.last ?? nil, (0...high).contains(low) else {
        throw ValidationError("it is no range of zooms; expected the smallest and the largest, such as 16-21")
      }
      return low...high
    }
  }

  /// `pharos venue delta`.
  struct Delta: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Write what changed between two bundles of a venue."
    )

    @Argument(help: ArgumentHelp("The bundle that devices have.", valueName: "old"))
    var old: String

    @Argument(help: ArgumentHelp("The bundle that they are to have.", valueName: "new"))
    var new: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The delta to write.", valueName: "file"))
    var output: String

    func run() throws {
      try VenueDeltaRunner(from: old, to: new, output: output).run(on: .standard()).leave()
    }
  }

  /// `pharos venue patch`.
  struct Patch: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Write the bundle to which a delta leads.")

    @Argument(help: ArgumentHelp("The bundle that the delta is for; it stays as it is.", valueName: "old"))
    var old: String

    @Argument(help: ArgumentHelp("The delta.", valueName: "delta"))
    var delta: String

    @Option(name: .shortAndLong, help: ArgumentHelp("The new bundle to write.", valueName: "file"))
    var output: String

    func run() throws {
      try VenuePatchRunner(old, with: delta, output: output).run(on: .standard()).leave()
    }
  }
}
