import PharosReports

/// The understood members of one object, each at its place; of a name that stands twice the last one counts.
struct JSONObject {
  private var values: InlineArray<64, JSONValue>

  /// Reads the members of an object.
  init(_ bytes: RawSpan, _ object: JSONValue) throws(DatagramRefusal) {
    values = InlineArray(repeating: .absent)
    var scanner = JSONScanner(object.range)
    while let (key, value) = try scanner.nextMember(bytes) {
      guard let field = JSONField(bytes, key: key.range) else { continue }
      values[Int(field.rawValue)] = value
    }
  }

  /// The member, which may be absent.
  subscript(field: JSONField) -> JSONValue { values[Int(field.rawValue)] }

  /// Whether the member is there and not null.
  func has(_ field: JSONField) -> Bool { self[field].isPresent }

  /// A number, or nil if there is none; a string of digits will do.
  func number(_ field: JSONField, _ bytes: RawSpan) throws(DatagramRefusal) -> Double? {
    let value = self[field]
    guard value.isPresent else { return nil }
    guard value.kind == .number || value.kind == .string else { throw .badField }
    guard let number = WireText.number(bytes, value.range) else { throw .badField }
    return number
  }

  /// A whole number within a range, or nil if there is none.
  func integer<Number: FixedWidthInteger>(
    _ field: JSONField,
    _ bytes: RawSpan,
    in range: ClosedRange<Number>
  ) throws(DatagramRefusal) -> Number? {
    guard let number = try number(field, bytes) else { return nil }
    guard let whole = Number(exactly: number), range ~= whole else { throw .badField }
    return whole
  }

  /// A length of time given in milliseconds, or nil if there is none.
  func milliseconds(_ field: JSONField, _ bytes: RawSpan) throws(DatagramRefusal) -> TimeSpan? {
    guard let number = try number(field, bytes) else { return nil }
    guard number >= 0, number <= Double(WireLimits.mostMilliseconds) else { throw .badField }
    return .seconds(number / 1_000)
  }

  /// The level, or nil if there is none; fractions, as means have them, are rounded.
  func level(_ bytes: RawSpan) throws(DatagramRefusal) -> RSSI? {
    guard let number = try number(.rssi, bytes) else { return nil }
    guard -128...127 ~= number else { throw .badField }
    return WireLimits.level(Int(number.rounded()))
  }

  /// Where the text of a plain string lies, or nil if there is none.
  func text(_ field: JSONField) throws(DatagramRefusal) -> Range<Int>? {
    let value = self[field]
    guard value.isPresent else { return nil }
    guard value.kind == .string, !value.isEscaped else { throw .badField }
    return value.range
  }

  /// Which of some words a member is, in any case, or nil if it is none of them.
  func word(_ field: JSONField, _ bytes: RawSpan, _ words: [StaticString]) -> Int? {
    let value = self[field]
    guard value.kind == .string else { return nil }
    return words.firstIndex { word in
      guard word.utf8CodeUnitCount == value.range.count else { return false }
      return value.range.allSatisfy {
        unsafe bytes.byte(at: $0) | 0x20 == word.utf8Start[$0 - value.range.lowerBound] | 0x20
      }
    }
  }

  /// Who reports: the field for it, otherwise the room, and for what is no advert, whose `name` is the
  /// device's, the name.
  func observer(_ bytes: RawSpan, orName: Bool) throws(DatagramRefusal) -> ObserverID? {
    if has(.observer) { return try JSONObject.observer(self[.observer], bytes) }
    if has(.room) { return try JSONObject.observer(self[.room], bytes) }
    return orName && has(.name) ? try JSONObject.observer(self[.name], bytes) : nil
  }

  /// The identity that a string spells.
  static func observer(_ value: JSONValue, _ bytes: RawSpan) throws(DatagramRefusal) -> ObserverID {
    guard value.kind == .string else { throw .badIdentity }
    guard value.isEscaped else { return try WireText.observer(bytes, value.range) }
    let text = try JSONScanner.text(of: value, bytes)
    return try unsafe WireText.observer(text.span.bytes, 0..<text.count)
  }

  /// When it happened: an age in milliseconds, or a time of the sender's own clock; what says neither
  /// happened when the object around it did.
  func timing(_ bytes: RawSpan, within outer: ReportTiming) throws(DatagramRefusal) -> ReportTiming {
    if let age = try milliseconds(.age, bytes) { return .age(age) }
    // Times as text, as `2025-01-01T00:00:00Z`, are whole seconds more often than not.
    guard self[.time].kind == .number else { return has(.time) ? .received : outer }
    guard let timing = WireTime.timing(bytes, self[.time].range) else { throw .badField }
    return timing
  }
}
