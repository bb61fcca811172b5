/// Composes the payload of an advert from AD structures, as a beacon would.
///
/// For the simulator and for tests. What does not fit is refused and leaves the payload as it was.
public struct AdvertBuilder: Sendable {
  /// How much a payload may hold.
  public enum Capacity: Int, Sendable {
    /// Legacy advertising.
    case legacy = 31
    /// Extended advertising, its chained PDUs joined.
    case extended = 1_650
  }

  /// The structures so far.
  public private(set) var payload: [UInt8] = []
  /// How much the payload may hold.
  public let capacity: Capacity
  private var listsEddystone = false

  /// General discoverable, no BR/EDR: the flags of most beacons.
  public static let usualFlags: UInt8 = 0x06

  /// Starts with the flags, or with nothing if they are nil.
  public init(flags: UInt8? = AdvertBuilder.usualFlags, capacity: Capacity = .legacy) {
    self.capacity = capacity
    if let flags { payload = ADStructure.encoded(.flags, [flags]) }
  }

  /// Appends a frame; before the first one of Eddystone's the list of services that names it.
  public mutating func append(_ frame: Frame) throws(AdvertError) {
    guard frame.isEddystone, !listsEddystone else { return try append(structure: frame.encoded) }
    try append(structure: AdvertBuilder.eddystoneList + frame.encoded)
    listsEddystone = true
  }

  /// Appends the device's whole name.
  public mutating func append(localName: String) throws(AdvertError) {
    try append(.completeName, Array(localName.utf8))
  }

  /// Appends a structure of any type.
  public mutating func append(_ type: ADType, _ data: [UInt8]) throws(AdvertError) {
    guard data.count <= ADStructure.longestData else { throw .structureTooLong(dataBytes: data.count) }
    try append(structure: ADStructure.encoded(type, data))
  }

  private mutating func append(structure: [UInt8]) throws(AdvertError) {
    let needed = payload.count + structure.count
    guard needed <= capacity.rawValue else {
      throw .payloadTooLong(bytes: needed, capacity: capacity.rawValue)
    }
    payload += structure
  }

  private static let eddystoneList = ADStructure.encoded(
    .allServices16,
    [UInt8(truncatingIfNeeded: Eddystone.service), UInt8(Eddystone.service >> 8)]
  )
}

extension Frame {
  /// The frame as a beacon advertises it alone: flags, for Eddystone the list of services, and the frame.
  ///
  /// Every frame fits into the 31 bytes of a legacy payload.
  public var legacyPayload: [UInt8] {
    var builder = AdvertBuilder()
    do {
      try builder.append(self)
    } catch {
      preconditionFailure("a frame alone must fit into a legacy payload: \(error)")
    }
    return builder.payload
  }
}

/// Why an advert cannot be composed.
public enum AdvertError: Error, Equatable, Sendable {
  /// The structures together are longer than the payload may be.
  case payloadTooLong(bytes: Int, capacity: Int)
  /// One structure has more data than its length byte can count.
  case structureTooLong(dataBytes: Int)
}

extension AdvertError: CustomStringConvertible {
  /// What was too long, how long it may be, and what to do.
  public var description: String {
    switch self {
    case .payloadTooLong(let bytes, let capacity):
      "advert payload of \(bytes) bytes: at most \(capacity) fit. Leave a structure out"
        + (capacity == AdvertBuilder.Capacity.legacy.rawValue ? " or use extended advertising." : ".")
    case .structureTooLong(let dataBytes):
      "AD structure with \(dataBytes) bytes of data: at most \(ADStructure.longestData) fit. Split the data."
    }
  }
}
