package import PharosReports

extension UDPDatagram {
  /// Appends it as a line of JSON with its line feed: what `inspect --datagrams` prints.
  ///
  /// - Shape: `frame`, `time` (text, nine decimals), `src`, `sport`, `dst`, `dport` (all four text),
  ///   `payload` (hex), and `snapped` where the capture holds less than was sent.
  package func append(to json: inout JSONText) {
    json.openObject()
    json.member("frame", frame)
    json.member("time", orNull: time?.epochText)
    json.member("src", source.address.description)
    json.member("sport", String(source.port))
    json.member("dst", destination.address.description)
    json.member("dport", String(destination.port))
    json.member("payload", Hex.text(payload))
    if isSnapped { json.member("snapped", true) }
    json.closeObject()
    json.newLine()
  }
}

extension JSONText {
  /// Writes a key and a string, or null for nil.
  mutating func member(_ key: StaticString, orNull value: String?) {
    if let value { member(key, value) } else { null(key) }
  }
}
