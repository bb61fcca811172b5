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

  /// Whether an observer is meant.
  public func contains(_ observer: ObserverID) -> Bool { observer == self.observer }

  /// Whether a beacon is meant.
  public func contains(_ beacon: BeaconID) -> Bool {
    guard let meant = self.beacon else { return false }
    return beacon == meant || meant.kind == .address && beacon.address?.bits == meant.address?.bits
  }

  /// Whether a subject is meant.
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

extension SubjectTraces: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(description) }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    guard let traces = SubjectTraces(try reader.text()) else {
      throw reader.failure(.outOfRange(field: "a subject to be forgotten"))
    }
    self = traces
  }
}
