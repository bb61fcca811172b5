import FuzzSupport
import PharosCaptures
import PharosDocuments
import PharosModel

/// The short texts that stand in site files, paths, queries and datagrams: each that is read comes back as it is written.
final class TextsTarget: FuzzTarget {
  static let name = "texts"
  static let maximumLength = 96

  func run(_ input: RawSpan) {
    let bytes = input.array
    let text = String(decoding: bytes, as: UTF8.self)
    if let beacon = BeaconID(text) {
      demand(BeaconID(beacon.description) == beacon, "a beacon's text reads back: \(beacon)")
    }
    if let observer = ObserverID(text) {
      demand(ObserverID(observer.description) == observer, "an observer's text reads back: \(observer)")
    }
    if let address = DeviceAddress(text) {
      demand(DeviceAddress(address.description) == address, "an address's text reads back: \(address)")
    }
    if let uuid = UUID128(text) {
      demand(UUID128(uuid.description) == uuid, "a UUID's text reads back: \(uuid)")
    }
    if let namespace = EddystoneNamespace(text) {
      demand(
        EddystoneNamespace(namespace.description) == namespace,
        "a namespace's text reads back: \(namespace)"
      )
    }
    if let address = IPAddress(text) {
      demand(IPAddress(address.description) == address, "an IP address's text reads back: \(address)")
    }
    if let span = TimeSpan(written: text) {
      demand(
        TimeSpan(written: span.exactlyWritten) == span,
        "a time's text reads back: \(span.exactlyWritten)"
      )
      _ = span.written
    }
    if let octets = Hex.bytes(text) {
      demand(Hex.bytes(Hex.text(octets)) == octets, "hexadecimal digits read back")
    }
    if bytes.count >= 8 {
      let instant = Timestamp(nanoseconds: input.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) })
      demand(!"\(instant)".isEmpty, "every time has a text")
      _ = TimeSpan(nanoseconds: instant.nanoseconds).written
      _ = TimeSpan(nanoseconds: instant.nanoseconds).exactlyWritten
    }
  }

  static var words: [[UInt8]] {
    ["eddystone:", "mac:", "@", "::", "ffff:", "ms", "us", "ns", "1.5", "-", "/", "00-"].map {
      Array($0.utf8)
    }
  }

  static func seeds() throws -> [[UInt8]] {
    [
      "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/100/7@c4:be:84:e7:ec:3e",
      "eddystone:00112233445566778899/0000000000ab",
      "mac:c4:be:84:e7:ec:3e", "ac:23:3f:a0:00:01", "001bc50940810001", "h\u{E4}ll", "127.0.0.1",
      "2001:db8::1",
      "::ffff:10.0.0.1", "350ms", "1.5h", "E2C56DB5DFFB48D2B060D0F5A71096E0", "00112233445566778899",
    ]
    .map { Array($0.utf8) }
  }
}
