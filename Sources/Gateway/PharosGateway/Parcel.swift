import DequeModule
package import PharosModel
import PharosWire

/// The contents of one datagram, from its first advert until the datagram can no longer be refused.
///
/// A parcel keeps its contents and, once it has one, its number. When it is sent again, only the ages are recomputed: a
/// receiver that has already received it sees a number that it knows.
package struct Parcel: Sendable {
  /// Its adverts; the time of receipt is when each was heard, by the gateway's own clock.
  private(set) var batch = ReportBatch()
  /// The number of adverts in it.
  private(set) var adverts: UInt64 = 0
  /// The heartbeat that ends it, if there is one.
  private(set) var heartbeat: Heartbeat?
  /// The time at which the first of its contents was heard.
  private(set) var start: Timestamp
  /// The length of its datagram in bytes.
  private(set) var length: Int
  /// The number of its datagram, given when it is sent first.
  package var sequence: UInt32?
  /// The time at which it was sent last.
  var sentAt: Timestamp?

  package init(start: Timestamp, length: Int) {
    self.start = start
    self.length = length
  }

  /// Indicates whether it has no contents.
  var isEmpty: Bool { batch.isEmpty }

  /// The memory that it takes, approximately.
  ///
  /// - Units: bytes.
  package var memory: Int {
    MemoryLayout<Parcel>.stride + batch.reports.count * MemoryLayout<Report>.stride + batch.payloads.count
  }

  /// Puts an advert in, which was heard at the batch's own time of receipt; the caller has seen that it fits.
  mutating func append(_ report: Report, from other: borrowing ReportBatch, length recordLength: Int) {
    if batch.isEmpty { start = report.received }
    start = min(start, report.received)
    batch.append(report, from: other)
    adverts += 1
    length += recordLength
  }

  /// Puts a heartbeat in, of now.
  mutating func append(
    _ heartbeat: Heartbeat,
    of observer: ObserverID,
    at now: Timestamp,
    length recordLength: Int
  ) {
    if batch.isEmpty { start = now }
    batch.append(
      Report(
        observer: batch.index(of: observer),
        received: now,
        timing: .received,
        body: .heartbeat(heartbeat)
      )
    )
    self.heartbeat = heartbeat
    length += recordLength
  }
}

/// What is left of a parcel whose contents were given up after it was sent, until its datagram can no longer be refused.
struct ReleasedParcel: Sendable {
  /// The time at which it was sent last.
  let sentAt: Timestamp
  /// The number of adverts in it.
  let adverts: UInt64
  /// The heartbeat that ended it, if there was one.
  let heartbeat: Heartbeat?
}

/// Parcels in the order in which they are to be sent.
package struct ParcelQueue: Sendable {
  private var items: Deque<Parcel> = []
  /// The memory that its parcels take.
  ///
  /// - Units: bytes.
  package private(set) var memory = 0

  package init() {}

  /// The number of parcels.
  package var count: Int { items.count }

  /// Indicates whether there are no parcels.
  var isEmpty: Bool { items.isEmpty }

  /// The first one.
  package var first: Parcel? { items.first }

  /// Puts one behind all others.
  package mutating func append(_ parcel: Parcel) {
    items.append(parcel)
    memory += parcel.memory
  }

  /// Puts some in front of all others, the first of them foremost.
  package mutating func prepend(_ parcels: some Collection<Parcel>) {
    items.prepend(contentsOf: parcels)
    for parcel in parcels { memory += parcel.memory }
  }

  /// Takes the first one.
  package mutating func popFirst() -> Parcel? {
    guard let parcel = items.popFirst() else { return nil }
    memory -= parcel.memory
    return parcel
  }
}
