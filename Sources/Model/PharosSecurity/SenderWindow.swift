public import PharosDocuments
public import PharosModel
public import PharosWire
import Synchronization

/// A replay window that stays correct when the process is killed at any moment.
///
/// Only the memory of the process holds the set of taken datagrams, since a file cannot be written for every datagram.
/// So the file does not state which datagrams were taken, but which cannot have been taken: a datagram is taken only
/// while the disk already holds a record that covers it. A record states when the sender started, in the server's own
/// time, and covers every datagram of that boot whose R less its uptime is no earlier. All records are valid as long as
/// a lease that is on the disk as well.
///
/// That is enough after a kill. Every datagram that was taken had an R before the end of the run, so its uptime is
/// below that end less the sender's start, and every datagram with an uptime below that is refused. The uptime of a
/// running gateway grows with every millisecond of the restart, so nothing that it sends from then on is refused.
///
/// The record is written again when a sender restarts, when a datagram arrives with less delay than any before it,
/// and every minute if the clocks have drifted apart. Only the first two cases hold datagrams up, for the time of one
/// write to the disk.
///
/// A pure value: it takes R and returns the records to keep.
public struct SenderWindow: Equatable, Sendable {
  /// The judgement of a datagram whose tag is valid.
  public enum Judgement: Equatable, Sendable {
    /// Take it; it is marked as taken.
    case accepted
    /// Take it, and store a record soon.
    case acceptedToRecord(SenderRecord)
    /// Hold it until a record is stored, then judge it again; nil if that record is being stored already.
    case waits(SenderRecord?)
    /// Refuse it.
    case refused(DatagramRefusal)
  }

  /// The time by which a datagram may be earlier than those that a record covers.
  ///
  /// 50 ms: most of the jitter between a gateway and its server, so that records rarely have to be written for it. It
  /// is also the data that a gateway may lose after a crash and a restart that took no time at all.
  public static let margin = TimeSpan.milliseconds(50)
  /// The interval at which the earliest start is determined again, as clocks drift apart.
  ///
  /// A minute, within which crystals of 100 ppm drift by 6 ms.
  static let period = TimeSpan.minutes(1)
  /// The drift from which a new record is worth its write.
  static let worthKeeping = TimeSpan.milliseconds(25)

  /// The boot and the start that a record covers.
  private struct Cover: Equatable {
    var bootID: UInt32
    var startedAt: Timestamp
  }

  /// The earliest start of two periods: the present one and the one before.
  private struct Starts: Equatable {
    var periodBegan: Timestamp
    var earliest: Timestamp
    /// The greatest uptime that was taken before the present period.
    var uptimeBefore: TimeSpan?
  }

  /// The taken datagrams, or nil while they are not known number by number.
  private var window: ReplayWindow?
  /// The boot id below which all datagrams are refused, though none was taken with it since the start.
  private var bootID: UInt32?
  /// The uptime of that boot up to which all datagrams are refused.
  private var floor: TimeSpan?
  /// The uptime up to which all datagrams must be refused if this run ends now.
  private var floorToKeep: TimeSpan?
  private var kept: Cover?
  /// The last record that was requested and is not stored yet.
  private var asked: Cover?
  /// The record of the present boot that covers least, among those being stored: the disk may hold any of them.
  private var strictest: Cover?
  private var starts: Starts?

  /// Creates an empty window, or restores one from a record.
  ///
  /// - Parameters:
  ///   - record: the stored record.
  ///   - end: the latest R at which the run that stored it can have taken a datagram.
  public init(_ record: SenderRecord? = nil, endedBy end: Timestamp = .distantPast) {
    guard let record else { return }
    bootID = record.bootID
    floor = record.floor
    window = record.window.flatMap { $0.bootID == record.bootID ? $0 : nil }
    if let window {
      floorToKeep = SenderWindow.later(floor, window.uptime)
      return
    }
    // Nothing can have been taken only where the end lies before all that the record covers.
    if let start = record.startedAt, end >= start - SenderWindow.margin {
      floor = SenderWindow.later(floor, (end - start) + SenderWindow.margin)
    }
    floorToKeep = floor
  }

  /// Returns the record to store at a start, so that a later end needs no knowledge of this one; nil if the stored one
  /// suffices.
  public func recordAtStart(_ sender: SenderName) -> SenderRecord? {
    guard window == nil, let bootID, let floor else { return nil }
    return SenderRecord(sender: sender, bootID: bootID, floor: floor)
  }

  /// Returns the record to store at an orderly end; nil if nothing was ever taken.
  public func recordAtEnd(_ sender: SenderName) -> SenderRecord? {
    guard let window else { return recordAtStart(sender) }
    return SenderRecord(sender: sender, bootID: window.bootID, floor: floor, window: window)
  }

  /// Judges a datagram whose tag is valid.
  ///
  /// - Parameters:
  ///   - head: the head of the datagram.
  ///   - received: its R.
  ///   - lease: the last R at which the lease on the disk allows datagrams to be taken.
  ///   - sender: the sender of the window, for the record.
  /// - Returns: the judgement; a datagram that is to be taken has been marked as taken.
  public mutating func judge(
    _ head: PharosDatagramHead,
    received: Timestamp,
    lease: Timestamp,
    of sender: SenderName
  ) -> Judgement {
    if let refusal = refusal(head) { return .refused(refusal) }
    let start = received - head.uptime
    guard covers(head.bootID, start) else { return ask(head.bootID, start, of: sender) }
    guard received <= lease else { return .waits(nil) }
    let raise = recordStart(start, head.bootID, at: received)
    record(head)
    guard let raise else { return .accepted }
    expect(raise)
    return .acceptedToRecord(
      SenderRecord(sender: sender, bootID: raise.bootID, floor: floorToKeep, startedAt: raise.startedAt)
    )
  }

  /// Notes that a record is on the disk, or cannot be stored and is to count as if it were.
  public mutating func kept(_ record: SenderRecord) {
    guard let start = record.startedAt else { return }
    // A late record from before the last start is obsolete.
    if let bootID, record.bootID < bootID { return }
    kept = Cover(bootID: record.bootID, startedAt: start)
    if asked == kept {
      asked = nil
      strictest = nil
    }
    guard record.bootID != bootID else { return }
    bootID = record.bootID
    window = nil
    floor = nil
    floorToKeep = nil
    starts = nil
  }

  private func refusal(_ head: PharosDatagramHead) -> DatagramRefusal? {
    if let bootID, head.bootID < bootID { return .olderBoot }
    guard head.bootID == bootID else { return nil }
    if let floor, head.uptime <= floor { return .replayed }
    return window?.refusal(bootID: head.bootID, sequence: head.sequence, uptime: head.uptime)
  }

  /// Returns whether a datagram is covered by the record on the disk and by each one that may replace it in a moment.
  private func covers(_ bootID: UInt32, _ start: Timestamp) -> Bool {
    guard let kept, kept.bootID == bootID, start >= kept.startedAt - SenderWindow.margin else { return false }
    guard let strictest, strictest.bootID == bootID else { return true }
    return start >= strictest.startedAt - SenderWindow.margin
  }

  private mutating func ask(_ bootID: UInt32, _ start: Timestamp, of sender: SenderName) -> Judgement {
    if let asked, asked.bootID == bootID, start >= asked.startedAt - SenderWindow.margin {
      return .waits(nil)
    }
    expect(Cover(bootID: bootID, startedAt: start))
    let floor = bootID == self.bootID ? floorToKeep : nil
    return .waits(SenderRecord(sender: sender, bootID: bootID, floor: floor, startedAt: start))
  }

  private mutating func expect(_ cover: Cover) {
    asked = cover
    guard cover.bootID == kept?.bootID else { return }
    if let strictest, strictest.bootID == cover.bootID, strictest.startedAt >= cover.startedAt { return }
    strictest = cover
  }

  private mutating func record(_ head: PharosDatagramHead) {
    if window == nil {
      window = ReplayWindow(bootID: head.bootID, sequence: head.sequence, uptime: head.uptime)
    } else {
      window?.record(bootID: head.bootID, sequence: head.sequence, uptime: head.uptime)
    }
  }

  /// Notes the apparent start of the sender.
  ///
  /// - Returns: the cover of a new record, if clocks have drifted so far that the stored one would refuse too much.
  private mutating func recordStart(_ start: Timestamp, _ bootID: UInt32, at received: Timestamp) -> Cover? {
    guard let last = starts else {
      starts = Starts(periodBegan: received, earliest: start, uptimeBefore: floorToKeep)
      return nil
    }
    guard received - last.periodBegan >= SenderWindow.period else {
      if start < last.earliest { starts?.earliest = start }
      return nil
    }
    let uptime = SenderWindow.later(floorToKeep, window?.uptime)
    starts = Starts(periodBegan: received, earliest: start, uptimeBefore: uptime)
    let earliest = min(last.earliest, start)
    guard let kept, asked == nil, earliest - kept.startedAt >= SenderWindow.worthKeeping else { return nil }
    // What was taken before the period that ends has less than this uptime; all since is covered by the earliest start.
    floorToKeep = SenderWindow.later(floorToKeep, last.uptimeBefore)
    return Cover(bootID: bootID, startedAt: earliest)
  }

  private static func later(_ left: TimeSpan?, _ right: TimeSpan?) -> TimeSpan? {
    guard let left, let right else { return left ?? right }
    return max(left, right)
  }
}

/// A key with its window, shared by all threads that receive.
///
/// The kernel distributes datagrams over sockets by their addresses, so those of one sender, and repeats of them, may
/// arrive at any socket. All threads judge by the same window, behind a lock of its own. The lock is held once for a
/// datagram, for some twenty nanoseconds. Two threads contend for it only if two datagrams of one sender arrive in that
/// moment.
public final class SignedSender: Sendable {
  /// The name of the key.
  public let name: SenderName

  private let window: Mutex<SenderWindow>

  /// Creates a sender with a window.
  public init(_ name: SenderName, window: SenderWindow = SenderWindow()) {
    self.name = name
    self.window = Mutex(window)
  }

  /// Judges a datagram that the key has signed, and marks it as taken if the judgement is to take it.
  ///
  /// - Parameters:
  ///   - head: the head of the datagram.
  ///   - received: its R.
  ///   - lease: the last R at which the lease on the disk allows datagrams to be taken.
  /// - Returns: the judgement.
  public func judge(
    _ head: PharosDatagramHead,
    received: Timestamp,
    lease: Timestamp
  ) -> SenderWindow.Judgement {
    window.withLock { $0.judge(head, received: received, lease: lease, of: name) }
  }

  /// Notes that a record is on the disk.
  public func kept(_ record: SenderRecord) { window.withLock { $0.kept(record) } }

  /// The record to store before anything is received; see ``SenderWindow/recordAtStart(_:)``.
  public var recordAtStart: SenderRecord? { window.withLock { $0.recordAtStart(name) } }

  /// The record to store after the last datagram has been received; see ``SenderWindow/recordAtEnd(_:)``.
  public var recordAtEnd: SenderRecord? { window.withLock { $0.recordAtEnd(name) } }
}

/// The name of one key of one observer, which has a window of its own.
///
/// Each key has a window, rather than each observer: an attacker with a leaked key may have used up every boot id, and
/// a new key must start from the beginning.
public struct SenderName: Hashable, Sendable {
  /// The observer.
  public private(set) var observer: ObserverID
  /// The id of the key.
  public private(set) var keyID: UInt32

  /// Names a key.
  public init(observer: ObserverID, keyID: UInt32) {
    self.observer = observer
    self.keyID = keyID
  }
}

extension SenderName: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      observer: try coder.field(value().observer),
      keyID: try coder.field(value().keyID)
    )
  }
}

extension SenderName: CustomStringConvertible {
  /// The key's id and the observer, as in the keys of documents.
  public var description: String { "\(Hex.text(UInt64(keyID), bytes: 4))/\(observer)" }
}

/// The stored state of a sender's window, so that no datagram is taken twice however the server ends.
///
/// There are two kinds. After an orderly end, the record holds the whole ``window``. For a run that may end at any
/// moment, it holds only ``startedAt``: together with the time by which that run had ended, it gives an uptime above
/// that of every datagram the run had taken. See ``SenderWindow``.
public struct SenderRecord: Equatable, Sendable {
  /// The key.
  public private(set) var sender: SenderName
  /// The sender's boot id.
  public var bootID: UInt32
  /// The uptime up to which every datagram with this boot id counts as taken, regardless of other data; nil for none.
  public var floor: TimeSpan?
  /// The earliest start of the sender that its datagrams allow, by the R of the run that stored it: no datagram was
  /// taken whose R less its uptime lies more than a margin before it.
  public var startedAt: Timestamp?
  /// The window at an orderly end, after which nothing was taken.
  public var window: ReplayWindow?

  /// Makes a record.
  public init(
    sender: SenderName,
    bootID: UInt32,
    floor: TimeSpan? = nil,
    startedAt: Timestamp? = nil,
    window: ReplayWindow? = nil
  ) {
    self.sender = sender
    self.bootID = bootID
    self.floor = floor
    self.startedAt = startedAt
    self.window = window
  }
}

extension SenderRecord: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      sender: try coder.field(value().sender),
      bootID: try coder.field(value().bootID),
      floor: try coder.field(value().floor),
      startedAt: try coder.field(value().startedAt),
      window: try coder.field(value().window)
    )
  }
}

/// The lease on the disk: the time until which a server may take signed datagrams without another write.
///
/// Every datagram that was taken has an R within the lease. So a server that reads the lease after a crash knows a
/// time by which the run before had ended, although the moment of the crash was not recorded. See ``SenderWindow``.
public struct SenderLease: Equatable, Sendable {
  /// The duration of a lease.
  ///
  /// Ten seconds: less than a machine takes to restart after a power cut, so no datagram that a gateway sends then is
  /// in it.
  public static let length = TimeSpan.seconds(10)
  /// The time before its end at which it is renewed.
  ///
  /// Half of it: a write to the disk may take five seconds without delaying anything.
  public static let renewal = TimeSpan.seconds(5)

  /// The last R at which anything may be taken.
  public var until: Timestamp
  /// R when the lease was written.
  public var written: Timestamp
  /// The steady clock at that time.
  public var steady: TimeSpan
  /// The identifier of the machine's boot; the steady clock restarts with each boot.
  public var machineStart: String

  /// Makes a lease.
  public init(until: Timestamp, written: Timestamp, steady: TimeSpan, machineStart: String) {
    self.until = until
    self.written = written
    self.steady = steady
    self.machineStart = machineStart
  }

  /// Returns the latest R at which the run that wrote the lease can have taken a datagram.
  ///
  /// If the machine has not rebooted since, its steady clock gives what that run's R would be now, however the wall
  /// clock was set, and no datagram was taken in the future. Otherwise only the end of the lease is known.
  ///
  /// - Parameters:
  ///   - steady: the steady clock, read when that run is certainly over.
  ///   - machineStart: the identifier of the machine's present boot.
  /// - Returns: the earlier of the bounds that are known.
  public func end(steady: TimeSpan, machineStart: String) -> Timestamp {
    // Two unknown boots are not the same one.
    guard !machineStart.isEmpty, machineStart == self.machineStart, steady >= self.steady else {
      return until
    }
    return min(until, written + (steady - self.steady))
  }
}

extension SenderLease: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Self(
      until: try coder.field(value().until),
      written: try coder.field(value().written),
      steady: try coder.field(value().steady),
      machineStart: try coder.field(value().machineStart)
    )
  }
}
