package import PharosModel

/// Copies of datagrams for another sender or another time, changed in place: what a copy does not concern stays as it is.
///
/// A function returns nil where the datagram does not decode.
package enum DatagramCopy {
  /// A raddec whose receivers are renamed and whose time moves, with a checksum of its own.
  ///
  /// - Parameters:
  ///   - payload: the datagram.
  ///   - shift: the time by which it is later.
  ///   - number: the number of the copy; 0 leaves the receivers as they are.
  ///   - rename: gives the copy of an observer.
  /// - Returns: the copy.
  package static func raddec(
    _ payload: [UInt8],
    later shift: TimeSpan,
    number: Int,
    rename: (ObserverID) -> ObserverID
  ) -> [UInt8]? {
    let datagram = unsafe payload.span.bytes
    guard let layout = try? RaddecLayout(datagram) else { return nil }
    var bytes = payload
    var cursor = ByteCursor(layout.receivers)
    for _ in 0..<(number > 0 ? layout.receiverCount : 0) {
      guard let receiver = try? RaddecReceiver(datagram, &cursor),
        let observer = try? receiver.type.observer(datagram, at: receiver.identifier.lowerBound)
      else { return nil }
      let start = receiver.identifier.lowerBound
      switch rename(observer) {
      case .eui48(let bits), .eui64(let bits): bytes.put(bits, bytes: receiver.identifier.count, at: start)
      case .uuid(let uuid):
        bytes.put(uuid.high, bytes: 8, at: start)
        bytes.put(uuid.low, bytes: 8, at: start + 8)
      case .name:
        // Identifiers of other radios have no owner to respect: the number goes into their last two bytes.
        let end = receiver.identifier.upperBound
        bytes.put(UInt64(datagram.u16(at: end - 2)) ^ UInt64(number & 0xFFFF), bytes: 2, at: end - 2)
      }
    }
    if let time = layout.timestamp, let offset = layout.timestampOffset {
      bytes.put(UInt64(max(0, time + shift.nanoseconds / 1_000_000)), bytes: 6, at: offset)
    }
    bytes[bytes.count - 1] = bytes.dropLast().reduce(0, &+)
    return bytes
  }

  /// A Pharos datagram whose observers are renamed and whose sender has started again so many times since.
  ///
  /// Without a new boot id its numbers would look like repeats. Whatever records there are stay as they are, those of
  /// later versions too. A signature is left as it stands, and is wrong afterwards.
  ///
  /// - Parameters:
  ///   - payload: the datagram.
  ///   - starts: the number of further starts.
  ///   - rename: gives the copy of an observer.
  /// - Returns: the copy.
  package static func pharos(
    _ payload: [UInt8],
    starts: Int,
    rename: (ObserverID) -> ObserverID
  ) -> [UInt8]? {
    let datagram = unsafe payload.span.bytes
    guard let head = try? PharosDatagramHead.head(of: datagram) else { return nil }
    var bytes = Array(payload[..<PharosDatagramLayout.observerOffset]) + identity(rename(head.observer))
    var cursor = ByteCursor(head.records)
    while cursor.remaining > 0 {
      let start = cursor.offset
      guard let type = try? cursor.u8(datagram), let length = try? cursor.u16(datagram),
        let body = try? cursor.advance(Int(length))
      else { return nil }
      if type == PharosDatagramLayout.RecordType.observer.rawValue, let kind = payload[body].first,
        let observer = try? PharosDatagramOutline.observer(datagram, kind: kind, in: body.dropFirst())
      {
        // A record has a length of its own, so that none precedes the identity.
        var renamed = identity(rename(observer))
        renamed.remove(at: 1)
        bytes.append(type)
        bytes.append(u16: UInt16(renamed.count))
        bytes.append(contentsOf: renamed)
      } else {
        bytes.append(contentsOf: payload[start..<body.upperBound])
      }
    }
    bytes.append(contentsOf: payload[head.records.upperBound...])
    guard bytes.count <= Int(UInt16.max) else { return nil }
    let boot = head.bootID &+ UInt32(truncatingIfNeeded: starts)
    bytes.put(UInt64(bytes.count), bytes: 2, at: PharosDatagramLayout.lengthOffset)
    bytes.put(UInt64(boot), bytes: 4, at: PharosDatagramLayout.bootOffset)
    return bytes
  }

  /// The kind, the length and the bytes of an identity, as the end of an empty datagram's head has them.
  private static func identity(_ observer: ObserverID) -> [UInt8] {
    var encoder = PharosDatagramEncoder(observer: observer, bootID: 0)
    return Array(encoder.finish(uptime: .zero)[PharosDatagramLayout.observerOffset...])
  }
}
