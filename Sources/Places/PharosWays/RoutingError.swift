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
  /// The position of one end is the reason.
  indirect case position(RouteEnd, RoutingError)
}

/// An end of a route as errors name it.
public struct RouteEnd: Hashable, Sendable {
  /// The part that an end has in a question.
  public enum Role: String, Hashable, Sendable {
    /// The start of a way.
    case origin
    /// The goal of a way.
    case destination
    /// One of several places that a way passes in their order.
    case coordinate
  }

  /// The part of the end.
  public var role: Role
  /// The index among several ends of the part, from 0; nil for the only one.
  public var index: Int?

  /// Makes an end.
  public init(_ role: Role, index: Int? = nil) {
    self.role = role
    self.index = index
  }
}

extension RouteEnd: CustomStringConvertible {
  /// The end in the middle of a sentence: "the origin", "coordinate 2".
  public var description: String { index.map { "\(role) \($0)" } ?? "the \(role)" }
}

extension RoutingError {
  /// The error with the end whose position is the reason; an error of another kind as it is.
  func of(_ end: RouteEnd) -> RoutingError {
    switch self {
    case .unknownLevel, .outside: .position(end, self)
    default: self
    }
  }

  /// The code that clients of OSRM know.
  ///
  /// - Source: OSRM HTTP API 5.x, responses.
  package var code: String {
    switch self {
    case .unknownLevel, .outside: "NoSegment"
    case .unknownPlace, .unknownCategory: "InvalidValue"
    case .unreachablePlace, .closed, .inaccessiblePlace, .noWay: "NoRoute"
    case .tooManySearches, .ended: "TooBig"
    case .position(_, let error): error.code
    }
  }
}

extension RoutingError: CustomStringConvertible {
  /// The subject of the error and the remedy.
  public var description: String { text(of: "the position") }

  /// The subject of the error and the remedy, with the name of the end whose position is the reason.
  private func text(of end: String) -> String {
    switch self {
    case .position(let end, let error): error.text(of: "\(end)")
    case .unknownLevel(let level, let known):
      "there is no level \(level) for \(end): the venue has the levels "
        + known.map(String.init).joined(separator: ", ")
    case .outside(let level, let meters?):
      "\(end) is \(RoutingError.text(meters)) m from where people can walk on level \(level); at most "
        + "\(RoutingError.text(WalkableGraph.positionReach)) m are bridged: check the coordinate and the level"
    case .outside(let level, nil):
      "\(end) is far from level \(level) of the venue: check the order of latitude and longitude"
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
