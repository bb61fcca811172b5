import PharosDocuments
public import PharosModel

/// JSON: an object, an array of objects, or any number of either one behind the other, as on lines.
///
/// Understood are Pharos's own names, raddec in JSON, and names as Theengs, OpenMQTTGateway, ESPresense and
/// Minew gateways use; the article "JSON fields" lists them all. Names that are not understood are passed
/// over, and counted if they look like the identity of a beacon that is lost. An object says who reports it, or stands
/// inside one that does.
///
/// An element that cannot be read costs itself alone: an object of a list, a tag, a packet, a single report. Text that is
/// malformed, cut off or nested deeper than 16 levels is read without the elements that are (`JSONReader`); of text that
/// is not UTF-8 the members in which it is not are ignored. Server-sent events, as Cassia's gateways and access controllers
/// send them, are read as the JSON of their `data` lines; the end of a line at the beginning is skipped.
public enum JSONFormat: DatagramFormat {
  /// The name in metrics, logs and site files.
  public static let name = "json"
  /// The first bytes, for operators.
  public static let beginning = "{, [ or data:"
  /// The largest depth of arrays and objects; the deepest understood shape has 5 levels.
  static let deepest = 16

  /// The layouts of other makers' gateways: a new one is a file and an entry here.
  private static let layouts: [any JSONLayout.Type] = [
    RaddecJSONLayout.self, GatewayListLayout.self, CassiaLayout.self, MerakiLayout.self,
    AprilBrotherLayout.self,
  ]

  /// Returns whether the first character that is no white space opens an object or an array, or whether the first line is
  /// one of a server-sent event.
  public static func recognises(_ datagram: RawSpan) -> Bool {
    for offset in start(of: datagram)..<datagram.byteCount
    where !JSONReader.isSpace(datagram.byte(at: offset)) {
      let first = datagram.byte(at: offset)
      return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        || EventStreamLines.begin(datagram, at: offset)
    }
    return false
  }

  /// Returns whether a later line holds the data of a server-sent event.
  public static func recognisesWithin(_ datagram: RawSpan) -> Bool {
    var lines = TextFields(0..<WireText.end(datagram))
    _ = lines.nextLine(datagram)
    while let line = lines.nextLine(datagram) {
      if WireText.begins(datagram, line, with: "data:") { return true }
    }
    return false
  }

  /// The start of the text: some senders put a byte order mark before it.
  private static func start(of datagram: RawSpan) -> Int {
    let hasMark = datagram.byteCount >= 3 && datagram.u16(at: 0) == 0xEFBB && datagram.byte(at: 2) == 0xBF
    return hasMark ? 3 : 0
  }

  /// Appends the reports of all objects, and counts the members that look like an identity and were ignored.
  public static func decode(
    _ datagram: RawSpan,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    let text = start(of: datagram)..<WireText.end(datagram)
    if !WireText.isUTF8(datagram, text) { notes.skip(.badText) }
    try read(datagram, text, within: context, into: &batch, notes: &notes)
  }

  private static func read(
    _ bytes: RawSpan,
    _ text: Range<Int>,
    within context: MessageContext,
    into batch: inout ReportBatch,
    notes: inout DecodingNotes
  ) throws(DatagramRefusal) {
    let before = batch.count
    let tree: JSONTree
    do throws(JSONError) {
      tree = try JSONReader.values(bytes, text, deepest: deepest)
    } catch {
      if let events = EventStreamLines(bytes, text) {
        if events.beginsWithin { notes.skip(.badText) }
        let data = events.data
        return unsafe try read(data.span.bytes, 0..<data.count, within: context, into: &batch, notes: &notes)
      }
      let dropped: Int
      (tree, dropped) = JSONReader.salvage(bytes, text, deepest: deepest)
      notes.skip(.badText, count: UInt64(dropped))
    }
    var reader = JSONReportReader(tree, layouts, within: context, notes)
    reader.readAll(bytes, into: &batch)
    notes = reader.notes
    if batch.count == before, let reason = notes.firstReason { throw reason }
    guard reader.understood else { throw .nothingUnderstood }
  }
}

/// The `data` lines of a stream of server-sent events.
///
/// - Source: WHATWG HTML, 9.2.6, Interpreting an event stream.
private struct EventStreamLines {
  /// The data of the lines, each on a line of its own.
  private(set) var data: [UInt8] = []
  /// Indicates whether the text begins in the middle of a line that is lost.
  let beginsWithin: Bool

  private static let fields: [StaticString] = ["data:", "event:", "id:", "retry:", ":"]

  /// Returns whether a line of an event begins at an offset.
  static func begin(_ text: RawSpan, at offset: Int) -> Bool {
    fields.contains { WireText.begins(text, offset..<text.byteCount, with: $0) }
  }

  /// Takes the lines of a text; nil if it is no stream of events.
  init?(_ text: RawSpan, _ range: Range<Int>) {
    guard let start = range.first(where: { !JSONReader.isSpace(text.byte(at: $0)) }) else { return nil }
    let isField = EventStreamLines.begin(text, at: start)
    // The name of the field alone may be missing.
    let isData = text.byte(at: start) == UInt8(ascii: "{") || text.byte(at: start) == UInt8(ascii: "[")
    beginsWithin = !isField && !isData
    var isStream = isField
    var lines = TextFields(start..<range.upperBound)
    while let line = lines.nextLine(text) {
      let hasName = WireText.begins(text, line, with: "data:")
      guard hasName || isData && line.lowerBound == start else { continue }
      isStream = isStream || hasName
      for offset in line.dropFirst(hasName ? 5 : 0) { data.append(text.byte(at: offset)) }
      data.append(UInt8(ascii: "\n"))
    }
    guard isStream else { return nil }
  }
}
