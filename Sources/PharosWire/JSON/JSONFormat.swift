public import PharosReports

/// JSON: an object, an array of objects, or any number of either one behind the other, as on lines.
///
/// Understood are Pharos's own names, raddec in JSON, and names as Theengs, OpenMQTTGateway, ESPresense and
/// Minew gateways use; the article "JSON fields" lists them all. Names that are not understood are passed
/// over. An object says who reports it, or stands inside one that does.
///
/// The text must be valid JSON in UTF-8 to its last byte and nest no deeper than 16 levels; if any part of a
/// datagram is refused, all of it is.
public enum JSONFormat: DatagramFormat {
  /// Which format it is.
  public static let format = WireFormat.json

  /// Whether the first character that is no white space opens an object or an array.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    for offset in datagram.wholeRange where !JSONScanner.isSpace(datagram.byte(at: offset)) {
      return datagram.byte(at: offset) == UInt8(ascii: "{") || datagram.byte(at: offset) == UInt8(ascii: "[")
    }
    return false
  }

  /// Appends the reports of all objects.
  public static func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) throws(DatagramRefusal) {
    let text = 0..<WireText.end(datagram)
    guard WireText.isUTF8(datagram, text) else { throw .badText }
    let mark = batch.mark
    do throws(DatagramRefusal) {
      var reader = JSONReader(received: received)
      var scanner = JSONScanner(text)
      while !scanner.isAtEnd(datagram) {
        try reader.read(try scanner.value(datagram), datagram, into: &batch)
      }
      guard reader.understood else { throw .nothingUnderstood }
    } catch {
      batch.removeAll(behind: mark)
      throw error
    }
  }
}
