public import PharosDocuments
public import PharosModel
public import PharosWire

/// The set of recently taken datagrams of one key: it accepts reordered datagrams, and none twice.
///
/// Numbers up to ``width`` behind the newest are remembered one by one; older ones count as taken. A sender that
/// restarts has a higher boot id, with which the numbers begin again; lower boot ids are refused from then on.
///
/// A value without a clock. The caller asks ``refusal(bootID:sequence:uptime:)`` first and calls
/// ``record(bootID:sequence:uptime:)`` afterwards, so that a datagram that is refused for another reason leaves no trace.
///
/// - Source: RFC 6479: a ring of bits that is cleared as it turns. Here single bits are cleared instead of blocks, so
///   that the width is exact.
public struct ReplayWindow: Equatable, Sendable {
  /// The number of newer datagrams that may overtake a late one.
  ///
  /// - Units: datagrams. 1,024 are ten seconds of a gateway that sends a hundred datagrams a second, longer than
  ///   networks hold one back; RFC 4303 requires 64 of IPsec.
  public static let width = 1_024

  /// The time by which a sender's uptime may appear to go back while its numbers advance.
  ///
  /// Numbers wrap around after 2^32, so those of half a round ago look new again, and only their uptime reveals them.
  /// At a million datagrams a second, half a round takes 35 minutes. So a minute leaves no gap for repeats, and
  /// tolerates senders that write datagrams out of order.
  static let uptimeSlack = TimeSpan.minutes(1)

  /// The present boot id.
  public private(set) var bootID: UInt32
  /// The newest number that was taken.
  public private(set) var newest: UInt32
  /// The greatest uptime that was taken.
  public private(set) var uptime: TimeSpan
  /// A bit for each of the newest numbers, at its place modulo the width.
  private var seen: [UInt64]

  /// Begins with the first datagram that is taken.
  public init(bootID: UInt32, sequence: UInt32, uptime: TimeSpan) {
    self.bootID = bootID
    newest = sequence
    self.uptime = uptime
    seen = Array(repeating: 0, count: ReplayWindow.width / 64)
    mark(sequence)
  }

  /// Returns the reason to refuse a datagram, or nil if it was not taken yet and may be.
  public func refusal(bootID: UInt32, sequence: UInt32, uptime: TimeSpan) -> DatagramRefusal? {
    guard bootID == self.bootID else { return bootID < self.bootID ? .olderBoot : nil }
    let ahead = Int32(bitPattern: sequence &- newest)
    if ahead > 0 { return uptime < self.uptime - ReplayWindow.uptimeSlack ? .replayed : nil }
    guard Int(ahead) > -ReplayWindow.width else { return .replayed }
    return isMarked(sequence) ? .replayed : nil
  }

  /// Marks a datagram as taken that ``refusal(bootID:sequence:uptime:)`` did not refuse.
  public mutating func record(bootID: UInt32, sequence: UInt32, uptime: TimeSpan) {
    guard bootID == self.bootID else {
      self = ReplayWindow(bootID: bootID, sequence: sequence, uptime: uptime)
      return
    }
    let ahead = Int32(bitPattern: sequence &- newest)
    if ahead > 0 {
      clear(behind: newest, count: Int(ahead))
      newest = sequence
    }
    self.uptime = max(self.uptime, uptime)
    mark(sequence)
  }

  /// Clears the bits of old numbers whose places new numbers take.
  private mutating func clear(behind last: UInt32, count: Int) {
    guard count < ReplayWindow.width else {
      for index in seen.indices { seen[index] = 0 }
      return
    }
    for step in 1...count {
      let place = ReplayWindow.place(of: last &+ UInt32(truncatingIfNeeded: step))
      seen[place.word] &= ~place.bit
    }
  }

  private mutating func mark(_ sequence: UInt32) {
    let place = ReplayWindow.place(of: sequence)
    seen[place.word] |= place.bit
  }

  private func isMarked(_ sequence: UInt32) -> Bool {
    let place = ReplayWindow.place(of: sequence)
    return seen[place.word] & place.bit != 0
  }

  private static func place(of sequence: UInt32) -> (word: Int, bit: UInt64) {
    let place = Int(sequence) % width
    return (place / 64, 1 << UInt64(place % 64))
  }
}

/// A window takes 144 bytes.
extension ReplayWindow: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    var window = ReplayWindow(
      bootID: try coder.field(value().bootID),
      sequence: try coder.field(value().newest),
      uptime: try coder.field(value().uptime)
    )
    for place in window.seen.indices { window.seen[place] = try coder.field(value().seen[place]) }
    return window
  }
}
