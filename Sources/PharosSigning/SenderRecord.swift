public import PharosReports

/// One key of one observer: what has a window of its own.
///
/// A window for each key, not for each observer: who once held a key that leaked may have used up every boot id there is, and a
/// new key must begin afresh.
public struct SenderName: Hashable, Sendable {
  /// Whose key it is.
  public let observer: ObserverID
  /// Which key.
  public let keyID: UInt32

  /// Names a key.
  public init(observer: ObserverID, keyID: UInt32) {
    self.observer = observer
    self.keyID = keyID
  }
}

extension SenderName: CustomStringConvertible {
  /// The key's id and the observer, as documents are kept under.
  public var description: String { "\(Hex.text(UInt64(keyID), bytes: 4))/\(observer)" }
}

/// What is kept of a sender's window, so that nothing is taken twice however the server ends.
///
/// There are two sorts. After an orderly end the whole ``window`` is there. Of a run that may end at any moment there is only
/// ``startedAt``: together with the time by which that run had ended it gives an uptime that all it had taken lies below. See
/// ``SenderWindow``.
public struct SenderRecord: Equatable, Sendable {
  /// Which key.
  public let sender: SenderName
  /// The sender's boot id.
  public var bootID: UInt32
  /// Up to which uptime everything with this boot id counts as taken, whatever else is known; nil for nothing.
  public var floor: TimeSpan?
  /// When the sender started, by the R of the run that kept it, at the earliest that its datagrams allow: no datagram was taken
  /// whose R less its uptime lies more than a margin before it.
  public var startedAt: Timestamp?
  /// The window at an orderly end, behind which nothing was taken.
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

extension SenderRecord: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    sender.observer.write(to: &writer)
    writer.write(sender.keyID)
    writer.write(bootID)
    writer.write(floor)
    writer.write(startedAt)
    writer.write(window)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let observer = try ObserverID(from: &reader)
    sender = SenderName(observer: observer, keyID: try reader.number(UInt32.self))
    bootID = try reader.number(UInt32.self)
    floor = try reader.optional(TimeSpan.self)
    startedAt = try reader.optional(Timestamp.self)
    window = try reader.optional(ReplayWindow.self)
  }
}
