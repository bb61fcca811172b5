import PharosCaptures
package import PharosModel
package import PharosWire

/// The datagrams of one sender that were refused, and the elements of others that were skipped.
package struct RefusedSource: Hashable, Sendable {
  /// The sender's address.
  package var source: IPAddress
  /// The number of refused datagrams.
  package var count: UInt64 = 0
  /// The number of skipped elements.
  package var skipped: UInt64 = 0
  /// The reason for which a datagram was refused, or an element skipped, last.
  package var lastReason: DatagramRefusal
  /// The time of that.
  package var lastRefused: Timestamp
}

/// The refused datagrams by sender, with the decision when to log one.
///
/// Bounded: unknown senders can use any number of addresses. When the table is full, the eighth of it that has been
/// quiet longest makes room, so that a flood costs a sort every hundred senders and not one each.
package struct RefusalTable {
  /// The content of a log line.
  package struct Line: Equatable {
    package var source: IPAddress
    package var reason: DatagramRefusal
    /// Indicates whether it is about elements of a datagram of which the rest was read.
    package var isAboutElements: Bool
    /// The number of datagrams or elements of the same sender and reason since the last line about them.
    package var suppressed: UInt64

    package init(
      source: IPAddress,
      reason: DatagramRefusal,
      isAboutElements: Bool = false,
      suppressed: UInt64
    ) {
      self.source = source
      self.reason = reason
      self.isAboutElements = isAboutElements
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
    var isAboutElements: Bool
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

  /// Counts a refused datagram, or skipped elements of one, and returns the line to log, if it is time for one.
  package mutating func record(
    _ reason: DatagramRefusal,
    elements: UInt64? = nil,
    from source: IPAddress,
    at time: Timestamp
  ) -> Line? {
    if entries[source] == nil {
      if entries.count >= capacity { evict() }
      let refused = RefusedSource(source: source, lastReason: reason, lastRefused: time)
      entries[source] = Entry(refused: refused, reasons: [])
    }
    guard let suppressed = entries[source]?.count(reason, elements, at: time) else { return nil }
    if time - periodStart >= RefusalTable.quiet {
      periodStart = time
      linesInPeriod = 0
    }
    guard linesInPeriod < RefusalTable.linesPerPeriod else { return nil }
    linesInPeriod += 1
    let isAboutElements = elements != nil
    entries[source]?.lined(reason, isAboutElements, at: time)
    return Line(source: source, reason: reason, isAboutElements: isAboutElements, suppressed: suppressed)
  }

  private mutating func evict() {
    let oldest = entries.values
      .map { (time: $0.refused.lastRefused, source: $0.refused.source) }
      .sorted { $0.time < $1.time }
      .prefix(max(1, capacity / 8))
    for entry in oldest { entries.removeValue(forKey: entry.source) }
    evictions += UInt64(oldest.count)
  }
}

extension RefusalTable.Entry {
  /// Counts a refusal, or skipped elements; returns the number of suppressed ones if a line may be written.
  fileprivate mutating func count(
    _ reason: DatagramRefusal,
    _ elements: UInt64?,
    at time: Timestamp
  ) -> UInt64? {
    if let elements { refused.skipped += elements } else { refused.count += 1 }
    refused.lastReason = reason
    refused.lastRefused = time
    let count = elements ?? 1
    guard let index = index(of: reason, elements != nil) else {
      reasons.append(
        RefusalTable.Reason(
          kind: reason,
          isAboutElements: elements != nil,
          lastLine: .distantPast,
          suppressed: count
        )
      )
      return count - 1
    }
    defer { reasons[index].suppressed += count }
    return time - reasons[index].lastLine >= RefusalTable.quiet ? reasons[index].suppressed + count - 1 : nil
  }

  /// Notes that a line was written, whose own datagram is no longer a suppressed one.
  fileprivate mutating func lined(_ reason: DatagramRefusal, _ isAboutElements: Bool, at time: Timestamp) {
    guard let index = index(of: reason, isAboutElements) else { return }
    reasons[index].lastLine = time
    reasons[index].suppressed = 0
  }

  private func index(of reason: DatagramRefusal, _ isAboutElements: Bool) -> Int? {
    reasons.firstIndex { $0.kind == reason && $0.isAboutElements == isAboutElements }
  }
}

extension RefusedSource {
  /// One entry for each sender, the one with the most refusals first.
  static func merged(_ sources: [RefusedSource]) -> [RefusedSource] {
    var merged: [IPAddress: RefusedSource] = [:]
    for source in sources {
      guard let known = merged[source.source] else {
        merged[source.source] = source
        continue
      }
      var later = known.lastRefused >= source.lastRefused ? known : source
      later.count = known.count + source.count
      later.skipped = known.skipped + source.skipped
      merged[source.source] = later
    }
    return merged.values.sorted {
      ($0.count, $0.skipped, $1.source.description) > ($1.count, $1.skipped, $0.source.description)
    }
  }
}
