import PharosDocuments
import PharosMaps
import PharosModel
package import PharosTerminal
package import PharosWays

/// `pharos way`: directions from a venue's bundle, without server and network.
package struct WayRunner: Sendable {
  private let bundle: String
  private let position: Waypoint
  private let heading: Double?
  private let place: String
  private let language: RouteLanguage
  private let isAccessible: Bool

  /// Makes a runner.
  ///
  /// - Parameters:
  ///   - bundle: the bundle's file.
  ///   - position: where the subject is.
  ///   - heading: the direction that it faces in degrees clockwise from north; nil if it is not known.
  ///   - place: the id or the name of the place that it wants to reach.
  ///   - language: the language of the directions.
  ///   - isAccessible: indicates whether to avoid steps.
  package init(
    bundle: String,
    at position: Waypoint,
    heading: Double?,
    to place: String,
    language: RouteLanguage = .english,
    isAccessible: Bool = false
  ) {
    self.bundle = bundle
    self.position = position
    self.heading = heading
    self.place = place
    self.language = language
    self.isAccessible = isAccessible
  }

  /// Prints the directions, a step a line.
  ///
  /// - Returns: 0; 1 if the bundle cannot be read or there is no way.
  package func run(on console: Console) -> CommandStatus {
    console.run {
      let route = try VenueBundleRunner.translate {
        let router = try VenueBundle(path: bundle).router()
        return try router.routes(
          from: position,
          to: .place(place),
          options: RouteOptions(isAccessible: isAccessible)
        ).first
      }
      guard let route, let first = route.steps.first else {
        throw CommandFailure("there is no way to \"\(PlainText.clean(place))\"")
      }
      let words = WayWords(language)
      try console.print(
        PlainText.clean(
          "\(words.to) \(place): \(words.length(route.distance)), \(words.time(route.duration))"
        )
      )
      if let heading, route.distance > 0 {
        let turn = Maneuver.Modifier(degrees: Double(first.maneuver.bearingAfter) - heading)
        try console.print("\(words.start): \(words.side(turn))")
      }
      for (number, step) in route.steps.enumerated() {
        let distance = step.distance > 0 ? "  \(words.length(step.distance))" : ""
        try console.print(PlainText.clean("\(number + 1). \(step.instruction(in: language))\(distance)"))
      }
      return .success
    }
  }
}

/// The words around directions in a language.
private struct WayWords {
  let to: String
  let start: String
  private let minutes: String
  private let sides: [Maneuver.Modifier: String]

  init(_ language: RouteLanguage) {
    let sides: [String]
    switch language {
    case .english:
      (to, start, minutes) = ("To", "Start", "min")
      sides = [
        "behind you", "behind you to the left", "to the left", "ahead, slightly to the left", "ahead",
        "ahead, slightly to the right", "to the right", "behind you to the right",
      ]
    case .german:
      (to, start, minutes) = ("Nach", "Los", "min")
      sides = [
        "hinter Ihnen", "links hinter Ihnen", "nach links", "geradeaus, leicht links", "geradeaus",
        "geradeaus, leicht rechts", "nach rechts", "rechts hinter Ihnen",
      ]
    case .french:
      (to, start, minutes) = ("Vers", "Départ", "min")
      sides = [
        "derrière vous", "derrière vous à gauche", "à gauche", "tout droit, légèrement à gauche",
        "tout droit",
        "tout droit, légèrement à droite", "à droite", "derrière vous à droite",
      ]
    }
    self.sides = Dictionary(uniqueKeysWithValues: zip(Maneuver.Modifier.allCases, sides))
  }

  /// Where a direction lies for who faces straight on.
  func side(_ turn: Maneuver.Modifier) -> String { sides[turn] ?? turn.rawValue }

  func length(_ meters: Double) -> String { "\(Int(meters.rounded())) m" }

  func time(_ seconds: Double) -> String {
    seconds < 60 ? "\(Int(seconds.rounded())) s" : "\(Int((seconds / 60).rounded(.up))) \(minutes)"
  }
}
