import PharosDocuments
public import PharosModel

/// April Brother's AB BLE Gateway V4: a MessagePack map with a list of adverts.
///
/// - Shape: a map with `mac` (the gateway) and `devices`, an array of byte strings: u8 kind of PDU (0 connectable, 1 directed,
///   2 scannable, 3 not connectable, 4 scan response), address of 6 as printed, u8 level (256 is added to dBm), AD bytes.
/// - Source: wiki.aprbrother.com, User Guide For AB BLE Gateway V4, "Data Format"; the MessagePack specification.
public enum AprilBrotherFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "april-brother"
  /// The first bytes, for operators.
  public static let beginning = "a MessagePack map"

  /// Returns whether the datagram begins with a small MessagePack map whose first key is a short text.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    datagram.byteCount >= 2 && 0x81...0x8F ~= datagram.byte(at: 0) && 0xA1...0xBF ~= datagram.byte(at: 1)
  }

  /// Appends one advert for each device; of a map that was cut those before the cut.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    var observer = context.observer
    let devices = try readMap(datagram, &observer, into: &batch, notes: &notes)
    guard let observer else { throw notes.firstReason ?? .noObserver }
    let before = batch.count
    for device in devices {
      notes.attempt(&batch) { batch throws(DatagramRefusal) in
        context.append(.advert(try advert(datagram.extracting(device), to: &batch)), of: observer, to: &batch)
      }
    }
    guard batch.count == before else { return }
    if let reason = notes.firstReason { throw reason }
    // A gateway that hears nothing proves that it lives.
    context.append(.heartbeat(Heartbeat()), of: observer, to: &batch)
  }

  /// Reads the bytes of a device, whose data are appended to the batch.
  fileprivate static func advert(
    _ device: RawSpan,
    to batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Advert {
    guard device.byteCount >= 8 else { throw .tooShort }
    let kinds: [Advert.PDU] = [.connectable, .directed, .scannable, .nonConnectable, .scanResponse]
    let type = Int(device.byte(at: 0))
    return Advert(
      address: DeviceAddress(bits: device.u48(at: 1), kind: .unknown),
      rssi: WireLimits.level(Int(Int8(bitPattern: device.byte(at: 7)))),
      pdu: kinds.indices.contains(type) ? kinds[type] : .unknown,
      payload: batch.append(payload: device.extracting(8..<device.byteCount))
    )
  }

  /// Reads the members of the map: sets the gateway, and returns the places of the devices.
  private static func readMap(
    _ datagram: RawSpan,
    _ observer: inout ObserverID?,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) -> [Range<Int>] {
    var cursor = MessagePackCursor(datagram.wholeRange)
    guard case .map(let members) = try cursor.next(datagram) else { throw .badText }
    var devices: [Range<Int>] = []
    do throws(DatagramRefusal) {
      for _ in 0..<members {
        guard case .bytes(let key) = try cursor.peek(datagram) else {
          notes.skip(.badField)
          try cursor.skip(datagram)
          try cursor.skip(datagram)
          continue
        }
        try cursor.skip(datagram)
        if WireText.isEqual(datagram, key, "mac"), case .bytes(let place) = try cursor.peek(datagram) {
          notes.attempt(&batch) { _ throws(DatagramRefusal) in
            observer = try WireText.observer(datagram, place)
          }
        }
        guard WireText.isEqual(datagram, key, "devices"), case .array(let count) = try cursor.peek(datagram)
        else {
          try cursor.skip(datagram)
          continue
        }
        _ = try cursor.next(datagram)
        for _ in 0..<count {
          if case .bytes(let device) = try cursor.peek(datagram) {
            devices.append(device)
          } else {
            notes.skip(.badField)
          }
          try cursor.skip(datagram)
        }
      }
    } catch {
      notes.skip(error)
    }
    return devices
  }
}

/// The same map in JSON, which the gateway sends on request: the bytes of each device in hexadecimal digits, or its parts in a
/// list.
///
/// - Shape: `mac` (the gateway); `devices`: texts in digits, or lists of the kind of PDU, the address, the level and the data.
/// - Source: as ``AprilBrotherFormat``; the change log of its firmware, 1.5.3.
enum AprilBrotherLayout: JSONLayout {
  /// Reads a map; a gateway that hears nothing proves that it lives.
  static func read(
    _ object: JSONMembers,
    _ bytes: RawSpan,
    _ context: JSONReportReader.Context,
    by reader: inout JSONReportReader,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) -> Bool {
    guard object[.devices].kind == .array, let place = try object.text(.address) else { return false }
    var elements = reader.tree.elements(of: object[.devices])
    let first = elements.next()
    guard first.map({ $0.kind == .string || $0.kind == .array }) ?? true else { return false }
    var inner = context
    inner.observer = try WireText.observer(bytes, place)
    if first == nil { try reader.append(.heartbeat(Heartbeat()), .received, inner, to: &batch) }
    for element in reader.tree.elements(of: object[.devices]) {
      reader.attempt(&batch) { reader, batch throws(DatagramRefusal) in
        guard element.kind == .string else {
          guard reader.readNameless(element, bytes, inner, into: &batch) else { throw .badField }
          return
        }
        let octets = WireText.withHex(bytes, element.range) { span in
          var octets: [UInt8] = []
          for offset in 0..<span.byteCount { octets.append(span.byte(at: offset)) }
          return octets
        }
        guard let octets else { throw .badText }
        let advert = try AprilBrotherFormat.advert(unsafe octets.span.bytes, to: &batch)
        try reader.append(.advert(advert), .received, inner, to: &batch)
      }
    }
    return true
  }
}

/// A place in MessagePack that moves on value by value.
///
/// - Source: the MessagePack specification, "Formats".
struct MessagePackCursor {
  /// A value; of a list or a map only its length.
  enum Value {
    /// A text or bytes.
    case bytes(Range<Int>)
    case array(Int)
    case map(Int)
    /// A number, a truth value or nothing.
    case other
  }

  /// The largest depth of lists and maps.
  private static let deepest = 16

  private var cursor: ByteCursor

  init(_ range: Range<Int>) { cursor = ByteCursor(range) }

  /// Reads the next value without moving on.
  func peek(_ bytes: RawSpan) throws(DatagramRefusal) -> Value {
    var copy = self
    return try copy.next(bytes)
  }

  /// Reads the next value, or the head of a list or a map.
  mutating func next(_ bytes: RawSpan) throws(DatagramRefusal) -> Value {
    let code = try cursor.u8(bytes)
    switch code {
    case 0x00...0x7F, 0xE0...0xFF, 0xC0, 0xC2, 0xC3: return .other
    case 0x80...0x8F: return .map(Int(code & 0x0F))
    case 0x90...0x9F: return .array(Int(code & 0x0F))
    case 0xA0...0xBF: return .bytes(try cursor.advance(Int(code & 0x1F)))
    case 0xC4, 0xD9: return .bytes(try cursor.advance(Int(try cursor.u8(bytes))))
    case 0xC5, 0xDA: return .bytes(try cursor.advance(Int(try cursor.u16(bytes))))
    case 0xC6, 0xDB: return .bytes(try cursor.advance(Int(try cursor.u32(bytes))))
    case 0xC7: return try pass(Int(try cursor.u8(bytes)) + 1)
    case 0xC8: return try pass(Int(try cursor.u16(bytes)) + 1)
    case 0xC9: return try pass(Int(try cursor.u32(bytes)) + 1)
    case 0xCC, 0xD0: return try pass(1)
    case 0xCD, 0xD1, 0xD4: return try pass(2)
    case 0xD5: return try pass(3)
    case 0xCA, 0xCE, 0xD2: return try pass(4)
    case 0xD6: return try pass(5)
    case 0xCB, 0xCF, 0xD3: return try pass(8)
    case 0xD7: return try pass(9)
    case 0xD8: return try pass(17)
    case 0xDC: return .array(Int(try cursor.u16(bytes)))
    case 0xDD: return .array(Int(try cursor.u32(bytes)))
    case 0xDE: return .map(Int(try cursor.u16(bytes)))
    case 0xDF: return .map(Int(try cursor.u32(bytes)))
    default: throw .badText
    }
  }

  /// Passes over the next value with all that it holds.
  mutating func skip(_ bytes: RawSpan) throws(DatagramRefusal) {
    var open: [Int] = [1]
    while let left = open.last {
      guard left > 0 else {
        open.removeLast()
        continue
      }
      open[open.count - 1] -= 1
      switch try next(bytes) {
      case .bytes, .other: break
      case .array(let count): open.append(count)
      case .map(let count): open.append(2 * count)
      }
      guard open.count <= MessagePackCursor.deepest else { throw .badText }
    }
  }

  private mutating func pass(_ count: Int) throws(DatagramRefusal) -> Value {
    _ = try cursor.advance(count)
    return .other
  }
}
