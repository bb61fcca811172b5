public import PharosDocuments

/// The wish to be guided to a place or to another subject, which is assigned to a subject while the server runs.
public struct GuidanceRequest: Hashable, Sendable {
  /// A destination.
  public enum Destination: Hashable, Sendable {
    /// A place of interest or an entrance, by identifier or name.
    case place(String)
    /// A position on a floor.
    case position(Itinerary.Waypoint)
    /// Another subject, wherever it is.
    case subject(Moving)
  }

  /// A subject that is a destination.
  public struct Moving: Hashable, Sendable {
    /// The subject.
    public var subject: SubjectID
    /// Indicates whether those who asked may not learn where the subject is at present, so that there is no route to it.
    ///
    /// The engine knows nothing of authorisations; the caller, which does, sets this again after each change of them.
    public var isWithheld: Bool

    /// Makes a destination.
    public init(_ subject: SubjectID, isWithheld: Bool = false) {
      self.subject = subject
      self.isWithheld = isWithheld
    }
  }

  /// The subject that is the destination; nil if it is a place or a position.
  public var target: SubjectID? {
    if case .subject(let moving) = destination { moving.subject } else { nil }
  }

  /// The destination.
  public var destination: Destination
  /// Indicates whether to avoid steps.
  public var isAccessible: Bool
  /// The language of instructions, as a code of ISO 639-1; English if it is not known.
  public var language: String

  /// The longest name of a destination in bytes of UTF-8.
  public static let maximumName = 200

  /// Makes a request.
  public init(to destination: Destination, isAccessible: Bool = false, language: String = "en") {
    self.destination = destination
    self.isAccessible = isAccessible
    self.language = language
  }

  /// Indicates whether the name has a length, the position lies on the Earth, or there is a subject.
  public var isValid: Bool {
    switch destination {
    case .place(let name):
      (1...GuidanceRequest.maximumName).contains(name.utf8.count) && language.utf8.count <= 8
    case .position(let waypoint): waypoint.isValid && language.utf8.count <= 8
    case .subject(let moving): moving.subject != .none && language.utf8.count <= 8
    }
  }
}

extension GuidanceRequest.Destination: FieldUnion {
  /// The name of the field.
  public static var fieldName: String { "a destination" }

  /// Hands each case to a coder.
  public static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.place) { if case .place(let name) = $0 { name } else { nil } }
    try coder.code(&union, 1, Self.position) {
      if case .position(let waypoint) = $0 { waypoint } else { nil }
    }
    try coder.code(&union, 2, Self.subject) { if case .subject(let moving) = $0 { moving } else { nil } }
  }
}

extension GuidanceRequest.Moving: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let subject = try coder.field(value().subject)
    return Self(subject, isWithheld: try coder.field(value().isWithheld))
  }
}

extension GuidanceRequest: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    let request = GuidanceRequest(
      to: try coder.field(value().destination),
      isAccessible: try coder.field(value().isAccessible),
      language: try coder.field(value().language)
    )
    try coder.check(request.isValid, "a request for guidance")
    return request
  }
}

extension GuidanceRequest.Destination: CustomStringConvertible {
  /// The name of the place, latitude, longitude and level, or the subject.
  public var description: String {
    switch self {
    case .place(let name): name
    case .position(let waypoint): "\(waypoint.latitude),\(waypoint.longitude),\(waypoint.level)"
    case .subject(let moving): moving.subject.description
    }
  }
}
