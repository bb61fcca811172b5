import PharosReports

extension Presence {
  /// What is there beside the phase, which takes the two lowest bits.
  private struct Parts: OptionSet {
    let rawValue: UInt8
    static let phase: UInt8 = 3
    static let waiting = Parts(rawValue: 4)
    static let below = Parts(rawValue: 8)
    static let surelyBelow = Parts(rawValue: 16)
    static let levels = Parts(rawValue: 32)
    static let earlier = Parts(rawValue: 64)
    static let allowed = Parts(rawValue: 128)
  }

  private var parts: Parts {
    var parts = Parts(rawValue: phase.rawValue)
    if isWaiting { parts.insert(.waiting) }
    if isBelow { parts.insert(.below) }
    if isBelowSurely { parts.insert(.surelyBelow) }
    if !enterLevel.isNaN || !exitLevel.isNaN { parts.insert(.levels) }
    if !earlier.isEmpty { parts.insert(.earlier) }
    if allowed != .forever { parts.insert(.allowed) }
    return parts
  }

  /// Writes the presence without its policy, which the match set supplies when the state is read.
  func write(to writer: inout FieldWriter) {
    let parts = parts
    writer.write(parts.rawValue)
    mark.write(to: &writer)
    began.write(to: &writer)
    if parts.contains(.allowed) { allowed.write(to: &writer) }
    if parts.contains(.levels) {
      writer.write(enterLevel)
      writer.write(exitLevel)
    }
    guard parts.contains(.earlier) else { return }
    writer.write(earlier)
  }

  /// Reads where the beacon stands.
  init(policy: UInt16, from reader: inout FieldReader) throws(FieldError) {
    self.init(policy: policy)
    let parts = Parts(rawValue: try reader.byte())
    guard let phase = Phase(rawValue: parts.rawValue & Parts.phase) else {
      throw reader.failure(.unknownTag(field: "a presence", tag: parts.rawValue & Parts.phase))
    }
    self.phase = phase
    isWaiting = parts.contains(.waiting)
    isBelow = parts.contains(.below)
    isBelowSurely = parts.contains(.surelyBelow)
    mark = try Timestamp(from: &reader)
    began = try Timestamp(from: &reader)
    if parts.contains(.allowed) { allowed = try TimeSpan(from: &reader) }
    if parts.contains(.levels) {
      enterLevel = try reader.threshold()
      exitLevel = try reader.threshold()
    }
    if parts.contains(.earlier) { earlier = try reader.list(Timestamp.self) }
  }
}

extension FieldReader {
  /// Reads a level to enter or to leave at: a number of dBm, none, or one that nothing reaches.
  fileprivate mutating func threshold() throws(FieldError) -> Float {
    let number = try float()
    guard number.isInfinite || number.isNaN || number.magnitude <= 1e9 else {
      throw failure(.outOfRange(field: "a threshold"))
    }
    return number
  }
}
