import PharosDocuments
import PharosModel

/// The reason for which there is no route, and what to do about it.
public enum RoutingError: Error, Hashable, Sendable {
  /// The venue has no floor of this number.
  case unknownLevel(Int, known: [Int])
  /// A position is this far from where people can walk; nil if it is far from the venue.
  case outside(level: Int, meters: Double?)
  /// The venue has no place of this identifier or name; the nearest name is what may be meant.
  case unknownPlace(String, nearest: String?)
  /// The venue has no place of this category.
  case unknownCategory(String, known: [String])
  /// A place cannot be walked to from anywhere near.
  case unreachablePlace(String)
  /// A place is closed at the time of the arrival.
  case closed(String)
  /// A wheelchair cannot use the place.
  case inaccessiblePlace(String)
  /// There is no way; the options may be the reason.
  case noWay(isAccessible: Bool, isRestricted: Bool)
  /// The question takes more searches than its budget allows.
  case tooManySearches(Int, limit: Int)
  /// The search was ended before it had found an answer.
  case ended
}

extension RoutingError {
  /// The code that clients of OSRM know.
  ///
  /// - Source: OSRM HTTP API 5.x, responses.
  package var code: String {
    switch self {
    case .unknownLevel, .outside: "NoSegment"
    case .unknownPlace, .unknownCategory: "InvalidValue"
    case .unreachablePlace, .closed, .inaccessiblePlace, .noWay: "NoRoute"
    case .tooManySearches, .ended: "TooBig"
    }
  }
}

extension RoutingError: CustomStringConvertible {
  /// The subject of the error and the remedy.
  public var description: String {
    switch self {
    case .unknownLevel(let level, let known):
      "the venue has no level \(level): its levels are \(known.map(String.init).joined(separator: ", "))"
    case .outside(let level, let meters?):
      "the position is \(RoutingError.text(meters)) m from where people can walk on level \(level); at most "
        + "\(RoutingError.text(WalkableGraph.positionReach)) m are bridged: check the coordinate and the level"
    case .outside(let level, nil):
      "the position is far from level \(level) of the venue: check the order of latitude and longitude"
    case .unknownPlace(let name, let nearest):
      "the venue has no place \"\(PlainText.cut(name, to: 60))\""
        + (nearest.map { "; did you mean \"\($0)\"?" }
          ?? ": give the id or the name of a place or an entrance")
    case .unknownCategory(let name, let known):
      "the venue has no place of category \"\(PlainText.cut(name, to: 60))\""
        + Spelling.hint(for: name, among: known)
        + (known.isEmpty
          ? ": no place has a category" : ": its categories are \(known.joined(separator: ", "))")
    case .unreachablePlace(let name):
      "\"\(name)\" lies nowhere near where people can walk: correct its position in the venue's folder"
    case .closed(let name):
      "\"\(name)\" is closed at that time: choose another time"
    case .inaccessiblePlace(let name):
      "a wheelchair cannot use \"\(name)\": choose another place or leave out accessible"
    case .noWay(let isAccessible, let isRestricted):
      isAccessible
        ? "there is no way without steps: leave out accessible, or ask for another place"
        : isRestricted
          ? "there is no way under these options: avoid fewer kinds of connectors, or choose another time"
          : "there is no way: `pharos check` names the parts of the venue that cannot be walked to"
    case .tooManySearches(let count, let limit):
      "the question takes \(count) searches; at most \(limit) are made: name fewer ends, or places by their id instead "
        + "of a name that many bear"
    case .ended: "the search was ended"
    }
  }

  private static func text(_ meters: Double) -> String { "\((meters * 10).rounded() / 10)" }
}
