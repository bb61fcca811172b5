import ArgumentParser

/// `places`: the quality and the speed of geofences, visits, visual positioning, routes, tiles and bundles.
@main
struct Places: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "places",
    abstract: "Prints every target of geofences, visits, positioning sources, routes, tiles and bundles.",
    discussion: """
      Each part simulates its subject with a known truth. The parts that use the public indoor data say so and are left \
      out if the folder is absent.
      """
  )

  @Option(help: ArgumentHelp("Only this part; may be given several times.", valueName: "PART"))
  var only: [String] = []

  @Option(help: ArgumentHelp("The seed of the simulations.", valueName: "N"))
  var seed: UInt64 = 1

  @Option(help: ArgumentHelp("The folder above the public indoor data.", valueName: "FOLDER"))
  var data: String?

  func run() throws {
    let names = PlacesPart.all.map(\.name)
    for name in only where !names.contains(name) {
      throw ValidationError("\(name) is no part: \(names.joined(separator: ", "))")
    }
    var missed = 0
    for part in PlacesPart.all where only.isEmpty || only.contains(part.name) {
      print(part.name)
      for row in try part.measure(PlacesInput(seed: seed, data: data)) {
        print("  \(row)")
        if row.isMet == false { missed += 1 }
      }
    }
    print(missed == 0 ? "every target is met" : "\(missed) targets are missed")
  }
}

/// A part of the table.
struct PlacesPart: Sendable {
  /// The name that selects it.
  let name: String
  /// Measures the part.
  let measure: @Sendable (PlacesInput) throws -> [PlacesRow]

  /// All parts, in the order of the table.
  static let all: [PlacesPart] = [
    PlacesPart(name: "geofences", measure: measureGeofences),
    PlacesPart(name: "routes", measure: measureRoutes),
    PlacesPart(name: "visits", measure: measureVisits),
    PlacesPart(name: "tiles", measure: measureTiles),
    PlacesPart(name: "bundle", measure: measureBundle),
    PlacesPart(name: "vps", measure: measureVisualPositioning),
    PlacesPart(name: "conveyors", measure: measureConveyors),
  ]
}

/// The input of a measurement.
struct PlacesInput {
  /// The seed of the simulations.
  let seed: UInt64
  /// The folder above the public indoor data, if it was given.
  let data: String?
}

/// A row of the table.
struct PlacesRow: CustomStringConvertible {
  /// The measured quantity.
  let quantity: String
  /// The target.
  let target: String
  /// The figure.
  let seen: String
  /// Indicates whether the target is met; nil where the row has none.
  let isMet: Bool?

  var description: String {
    let verdict = isMet.map { $0 ? "met" : "MISSED" } ?? "-"
    return "\(quantity): \(seen) (target \(target)): \(verdict)"
  }
}
