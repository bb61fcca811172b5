public import PharosDocuments

/// The state of a subject relative to a region.
public enum RegionState: UInt8, Hashable, Sendable {
  /// Not determined yet.
  case unknown
  /// In it.
  case inside
  /// Not in it.
  case outside
  /// Not known, because the observers that could hear it are down.
  case unmonitored
}

/// The subject of a decision.
public enum SubjectID: Hashable, Comparable, Sendable {
  /// No subject: the decision is about an application or the server itself.
  case none
  /// An observer: a handset that enters a region.
  case observer(ObserverID)
  /// A beacon: a tag that gateways hear.
  case beacon(BeaconID)

  /// Indicates whether the subject is a beacon.
  package var isBeacon: Bool { if case .beacon = self { true } else { false } }

  /// Orders subjects: none, observers, beacons.
  public static func < (left: SubjectID, right: SubjectID) -> Bool {
    switch (left, right) {
    case (.observer(let left), .observer(let right)): left < right
    case (.beacon(let left), .beacon(let right)): left < right
    default: left.rank < right.rank
    }
  }

  private var rank: Int {
    switch self {
    case .none: 0
    case .observer: 1
    case .beacon: 2
    }
  }
}

extension SubjectID {
  /// The kind of the subject, as events spell it.
  package var kindName: String {
    switch self {
    case .none: "none"
    case .observer: "observer"
    case .beacon: "beacon"
    }
  }
}

extension SubjectID {
  /// Reads a subject as events name it: a text that is a beacon's stands for that beacon, any other for an observer.
  package init?(_ text: String) {
    if let beacon = BeaconID(text) {
      self = .beacon(beacon)
    } else if let observer = ObserverID(text) {
      self = .observer(observer)
    } else {
      return nil
    }
  }
}

extension SubjectID: CustomStringConvertible {
  /// The observer's or beacon's text; empty for none.
  public var description: String {
    switch self {
    case .none: ""
    case .observer(let observer): observer.description
    case .beacon(let beacon): beacon.description
    }
  }
}

/// All identities by which one subject may be known, as a request for its erasure names it.
///
/// Six octets may be the address of a handset or of a tag, so they mean both. A tag's address also matches where it is
/// the last part of a longer identity (`key: mac`).
public struct SubjectTraces: Hashable, Sendable {
  /// The subject as an observer, if it can be one.
  public let observer: ObserverID?
  /// The subject as a beacon, if it can be one.
  public let beacon: BeaconID?

  /// Parses a subject as events, pages and site files write it; nil if the text is no identity.
  ///
  /// - Parameter text: `UUID/major/minor`, `eddystone:namespace/instance`, `mac:address` or one of these with `@address` for a
  ///   beacon; a UUID, eight octets or a name for an observer; six octets for both.
  public init?(_ text: some StringProtocol) {
    if let beacon = BeaconID(text) {
      self.init(observer: nil, beacon: beacon)
    } else if let observer = ObserverID(text) {
      if case .eui48(let bits) = observer {
        self.init(observer: observer, beacon: .address(DeviceAddress(bits: bits, kind: .unknown)))
      } else {
        self.init(observer: observer, beacon: nil)
      }
    } else {
      return nil
    }
  }

  private init(observer: ObserverID?, beacon: BeaconID?) {
    self.observer = observer
    self.beacon = beacon
  }

  /// Returns whether the traces are about an observer.
  public func contains(_ observer: ObserverID) -> Bool { observer == self.observer }

  /// Returns whether the traces are about a beacon.
  public func contains(_ beacon: BeaconID) -> Bool {
    guard let meant = self.beacon else { return false }
    return beacon == meant || meant.kind == .address && beacon.address?.bits == meant.address?.bits
  }

  /// Returns whether the traces are about a subject.
  public func contains(_ subject: SubjectID) -> Bool {
    switch subject {
    case .none: false
    case .observer(let observer): contains(observer)
    case .beacon(let beacon): contains(beacon)
    }
  }
}

extension SubjectTraces: CustomStringConvertible {
  /// The text that ``init(_:)`` reads back.
  public var description: String { observer?.description ?? beacon?.description ?? "" }
}

extension SubjectTraces: FieldForm {
  /// What is wrong with a text that names no subject.
  public static var misfit: FieldError.Problem { .outOfRange(field: "a subject to be forgotten") }
  /// The text.
  public var form: String { description }
  /// Reads the text.
  public init?(form: String) { self.init(form) }
}

extension RegionState: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a region's state" }
}

extension SubjectID: FieldUnion {
  /// The name of the field.
  public static var fieldName: String { "a subject's kind" }

  /// Hands each case to a coder.
  @inlinable
  public static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, Self.none)
    try coder.code(&union, 1, Self.observer) {
      if case .observer(let observer) = $0 { observer } else { nil }
    }
    try coder.code(&union, 2, Self.beacon) { if case .beacon(let beacon) = $0 { beacon } else { nil } }
  }
}

extension RegionState {
  /// The state as events spell it.
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .inside: "inside"
    case .outside: "outside"
    case .unmonitored: "unmonitored"
    }
  }
}
