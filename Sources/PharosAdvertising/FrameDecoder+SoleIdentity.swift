public import PharosReports

extension FrameDecoder {
  /// What an advert says about who sent it, where at most one identity does.
  public enum SoleIdentity: Hashable, Sendable {
    /// It carries no identity, and nothing else that stage one would take from it.
    case none
    /// It carries this one, and the level at one metre in dBm.
    case one(BeaconID, measuredPower: Int8)
    /// It carries more: further frames with identities, or telemetry.
    case more
  }

  /// The identity of a payload, if it carries no other: one walk, and nothing is allocated.
  ///
  /// What frames without an identity say (web addresses, changing identities, encrypted telemetry) has no part in that.
  public func soleIdentity(in payload: RawSpan) -> SoleIdentity {
    var structures = ADStructures()
    var found = SoleIdentity.none
    while let structure = structures.next(in: payload) {
      guard structure.type == .manufacturerData || structure.type == .serviceData16 else { continue }
      guard let frame = frame(of: structure, in: payload) else { continue }
      if case .eddystoneTLM = frame { return .more }
      guard let beacon = frame.beacon, let power = frame.measuredPower else { continue }
      guard case .none = found else { return .more }
      found = .one(beacon, measuredPower: power)
    }
    return found
  }
}
