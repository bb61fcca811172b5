import PharosCaptures
package import PharosModel
package import PharosWire

/// The datagrams of one sender that were refused.
package struct RefusedSource: Hashable, Sendable {
  /// The sender's address.
  package var source: IPAddress
  /// The number of refused datagrams.
  package var count: UInt64
  /// The reason for the last refusal.
  package var lastReason: DatagramRefusal
  /// The time of the last refusal.
  package var lastRefused: Timestamp
}

/// The refused datagrams by sender, with the decision when to log one.
///
/// Bounded: strangers can send from any number of addresses. When the table is full, the eighth of it that has been
/// quiet longest makes room, so that a flood costs a sort every hundred strangers and not one each.
package struct RefusalTable {
  /// The content of a log line.
  package struct Line: Equatable {
    package var source: IPAddress
    package var reason: DatagramRefusal
    /// The number of datagrams of the same sender and reason that were refused since the last line about them.
    package var suppressed: UInt64

    package init(source: IPAddress, reason: DatagramRefusal, suppressed: UInt64) {
      self.source = source
      self.reason = reason
      self.suppressed = suppressed
    }
  }

  /// The minimum time between two lines about the same sender and reason.
  static let quiet = TimeSpan.minutes(1)
  /// The maximum number of log lines in one such period, across all senders: a flood from forged addresses must not
  /// fill the disk.
  package static let linesPerPeriod = 20

  fileprivate struct Reason {
    var kind: DatagramRefusal
    var lastLine: Timestamp
    var suppressed: UInt64
  }

  fileprivate struct Entry {
    var refused: RefusedSource
    var reasons: [Reason]
  }

  private let capacity: Int
  private var entries: [IPAddress: Entry] = [:]
  private var periodStart = Timestamp.distantPast
  private var linesInPeriod = 0
  /// The number of senders that were evicted to make room.
  package private(set) var evictions: UInt64 = 0

  /// Makes an empty table.
  package init(capacity: Int = 1_024) { self.capacity = capacity }

  /// The senders, the one with the most refusals first.
  package var sources: [RefusedSource] { RefusedSource.merged(entries.values.map(\.refused)) }

  /// Counts a refused datagram and returns the line to log, if it is time for one.
  package mutating func note(_ reason: DatagramRefusal, from source: IPAddress, at time: Timestamp) -> Line? {
    if entries[source] == nil {
      if entries.count >= capacity { evict() }
      let refused = RefusedSource(source: source, count: 0, lastReason: reason, lastRefused: time)
      entries[source] = Entry(refused: refused, reasons: [])
    }
    guard let suppressed = entries[source]?.count(reason, at: time) else { return nil }
    if time - periodStart >= RefusalTable.quiet {
      periodStart = time
      linesInPeriod = 0
    }
    guard linesInPeriod < RefusalTable.linesPerPeriod else { return nil }
    linesInPeriod += 1
    entries[source]?.lined(reason, at: time)
    return Line(source: source, reason: reason, suppressed: suppressed)
  }

  private mutating func evict() {
    let stalest = entries.values
      .map { (time: $0.refused.lastRefused, source: $0.refused.source) }
      .sorted { $0.time < $1.time }
      .prefix(max(1, capacity / 8))
    for entry in stalest { entries.removeValue(forKey: entry.source) }
    evictions += UInt64(stalest.count)
  }
}

extension RefusalTable.Entry {
  /// Counts a refusal; returns the number of suppressed ones if a line may be written.
  fileprivate mutating func count(_ reason: DatagramRefusal, at time: Timestamp) -> UInt64? {
    refused.count += 1
    refused.lastReason = reason
    refused.lastRefused = time
    guard let index = reasons.firstIndex(where: { $0.kind == reason }) else {
      reasons.append(RefusalTable.Reason(kind: reason, lastLine: .distantPast, suppressed: 1))
      return 0
    }
    defer { reasons[index].suppressed += 1 }
    return time - reasons[index].lastLine >= RefusalTable.quiet ? reasons[index].suppressed : nil
  }

  /// Notes that a line was written, whose own datagram is no longer a suppressed one.
  fileprivate mutating func lined(_ reason: DatagramRefusal, at time: Timestamp) {
    guard let index = reasons.firstIndex(where: { $0.kind == reason }) else { return }
    reasons[index].lastLine = time
    reasons[index].suppressed = 0
  }
}
