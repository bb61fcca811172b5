package import PharosReports

/// The check of one sender's boot ids and sequence numbers: it detects lost and repeated datagrams, and restarts.
package struct SequenceCheck: Sendable {
  /// What a datagram's head means.
  package enum Finding: Hashable {
    /// The next one, or the first one.
    case next
    /// So many before it have not come.
    case gap(UInt64)
    /// One that had been counted as lost.
    case reordered
    /// One that had come already, or lies too far back to tell.
    case repeated
    /// The first of a later boot.
    case restarted
    /// One of a boot that a later one has replaced.
    case staleBoot
  }

  var bootID: UInt32?
  var received: UInt64 = 0
  var lost: UInt64 = 0
  var highest: UInt32 = 0
  /// Bit n: the number n below the highest has come.
  var seen: UInt64 = 1

  /// A flag that is set from a downtime of the server to the next new number: the numbers between are not losses.
  package var isInterrupted = false
  /// How many datagrams in a row have come before, the latest one included; no more are counted than matter.
  package var repeats: UInt8 = 0

  package init() {}

  /// The maximum number of datagrams in a row that count as repeats.
  ///
  /// Sixteen: a network that duplicates datagrams delivers a burst of at most that many again. A sender whose numbers
  /// stay old for longer does not number its datagrams, or has restarted its numbers without a new boot id; the content
  /// of its datagrams is new all the same.
  package static let mostRepeats: UInt8 = 16

  /// Whether the latest datagram came twice, so that all it says has been said.
  package var isRepeat: Bool { repeats > 0 && repeats <= SequenceCheck.mostRepeats }

  /// Handles a downtime of the server: datagrams sent during it do not count as lost.
  package mutating func interrupt() { isInterrupted = bootID != nil }

  /// A datagram came.
  package mutating func note(_ head: Transmission) -> Finding {
    let repeatsBefore = repeats
    repeats = 0
    guard let boot = bootID, boot == head.bootID else {
      if let boot = bootID, head.bootID < boot { return .staleBoot }
      let isFirst = bootID == nil
      bootID = head.bootID
      highest = head.sequence
      seen = 1
      received += 1
      return isFirst ? .next : .restarted
    }
    let ahead = Int32(bitPattern: head.sequence &- highest)
    if ahead > 0, isInterrupted {
      isInterrupted = false
      highest = head.sequence
      seen = 1
      received += 1
      return .next
    }
    guard ahead <= 0 else { return advance(by: UInt64(ahead), to: head.sequence) }
    let steps = UInt64(-Int64(ahead))
    guard steps < 64, seen >> steps & 1 == 1 else { return lookBack(steps) }
    repeats = min(repeatsBefore, SequenceCheck.mostRepeats) + 1
    return .repeated
  }

  /// The usual case of ``note(_:)``: takes the datagram if it is the next one of the same boot, otherwise changes nothing.
  @inline(__always)
  mutating func takeNext(_ head: Transmission) -> Bool {
    guard let boot = bootID, boot == head.bootID, head.sequence &- highest == 1, !isInterrupted else {
      return false
    }
    seen = seen &<< 1 | 1
    highest = head.sequence
    received += 1
    repeats = 0
    return true
  }

  private mutating func advance(by steps: UInt64, to sequence: UInt32) -> Finding {
    seen = (steps < 64 ? seen << steps : 0) | 1
    highest = sequence
    received += 1
    lost += steps - 1
    return steps == 1 ? .next : .gap(steps - 1)
  }

  /// Takes a datagram that is not known to have come before.
  private mutating func lookBack(_ steps: UInt64) -> Finding {
    guard steps < 64 else { return .repeated }
    seen |= 1 << steps
    guard lost > 0 else { return .repeated }
    lost -= 1
    received += 1
    return .reordered
  }
}
