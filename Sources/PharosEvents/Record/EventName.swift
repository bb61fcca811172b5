public import PharosReports

/// A name that an event mentions and that many events share: a store keeps it once and a number for it in each event.
///
/// Two names are equal if they consist of the same bytes, so that a stored name is read back as it was published;
/// Swift's own equality of strings also accepts texts that only look alike.
public enum EventName: Hashable, Sendable {
  /// An application, a region or a zone.
  case text(String)
  /// An observer.
  case observer(ObserverID)
  /// A beacon.
  case beacon(BeaconID)

  /// Whether two names consist of the same bytes.
  public static func == (left: EventName, right: EventName) -> Bool {
    switch (left, right) {
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    case (.observer(.name(let left)), .observer(.name(let right))): left.utf8.elementsEqual(right.utf8)
    case (.observer(let left), .observer(let right)): left == right
    case (.beacon(let left), .beacon(let right)): left == right
    default: false
    }
  }

  /// Feeds the bytes to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .text(let text), .observer(.name(let text)): EventName.hash(text, into: &hasher)
    case .observer(.eui48(let bits)), .observer(.eui64(let bits)): hasher.combine(bits)
    case .observer(.uuid(let uuid)):
      hasher.combine(uuid.high)
      hasher.combine(uuid.low)
    case .beacon(let beacon):
      let words = beacon.words
      hasher.combine(words.high ^ words.address)
      hasher.combine(words.low ^ words.tail << 24)
    }
  }

  private static func hash(_ text: String, into hasher: inout Hasher) {
    let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    guard isDone == nil else { return }
    for byte in text.utf8 { hasher.combine(byte) }
  }
}

extension EventName: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    switch self {
    case .text(let text):
      writer.write(0 as UInt8)
      writer.write(text)
    case .observer(let observer):
      writer.write(1 as UInt8)
      observer.write(to: &writer)
    case .beacon(let beacon):
      writer.write(2 as UInt8)
      beacon.write(to: &writer)
    }
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    switch try reader.byte() {
    case 0: self = .text(try reader.text())
    case 1: self = .observer(try ObserverID(from: &reader))
    case 2: self = .beacon(try BeaconID(from: &reader))
    case let tag: throw reader.failure(.unknownTag(field: "a name's kind", tag: tag))
    }
  }
}
