package import PharosDocuments

extension DocumentFields {
  /// The keys that say which beacons an entry is about.
  package static let identityKeys = ["uuid", "major", "minor", "namespace", "instance", "mac", "key"]

  /// Returns an address, quoted where YAML might read a number.
  package func address(_ key: String) -> DeviceAddress? {
    if let node = self[key] { checkQuotes(node, key, path: path(of: key)) }
    return value(key, .address)
  }

  /// Returns the identity of an observer, which must be present, quoted where YAML might read a number.
  package func requiredObserver(_ key: String) -> ObserverID? {
    if let node = self[key] { checkQuotes(node, key, path: path(of: key)) }
    return required(key, .observer)
  }

  /// Notes a mistake or a warning about an address without quotes, whatever its digits.
  ///
  /// YAML reads 11:22:33:44:55:06 as a number to the base of 60 and 112233445566 as a decimal one.
  package func checkQuotes(_ node: DocumentNode, _ key: String, path: String) {
    guard case .plain(let text) = node.content, DeviceAddress(text) != nil else { return }
    if Double(text) != nil || text.allSatisfy({ $0.isNumber || $0 == ":" }) {
      problems.mistake(
        "\(place): \(key) \(text) is a number to YAML",
        line: node.line,
        field: path,
        expected: "quotes around it: \"\(text)\""
      )
    } else {
      problems.warning(
        "\(place): \(key) \(text) is set without quotes; YAML reads some addresses as numbers",
        line: node.line,
        field: path,
        expected: "\"\(text)\""
      )
    }
  }
}

extension ValueForm where Value == ObserverID {
  /// The identity of an observer.
  package static var observer: Self {
    let name = "a name of at most \(ObserverID.maximumName) bytes without control characters"
    return ValueForm(expected: "a MAC in quotes, a UUID or \(name)", schema: .name) { ObserverID($0) }
  }
}

extension ValueForm where Value == DeviceAddress {
  /// A hardware address.
  package static var address: Self {
    ValueForm(
      expected: "six octets, as in \"ac:23:3f:a0:00:01\"",
      schema: .pattern("^(([0-9A-Fa-f]{2}:){5}|([0-9A-Fa-f]{2}-){5}|([0-9A-Fa-f]{2}){5})[0-9A-Fa-f]{2}$")
    ) { DeviceAddress($0) }
  }
}

extension ValueForm where Value == UUID128 {
  /// A UUID.
  package static var uuid: Self {
    ValueForm(
      expected: "32 hexadecimal digits, as in E2C56DB5-DFFB-48D2-B060-D0F5A71096E0",
      schema: .pattern("^([0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32})$")
    ) { UUID128($0) }
  }
}

extension ValueForm where Value == EddystoneNamespace {
  /// The namespace of an Eddystone-UID.
  package static var namespace: Self {
    ValueForm(expected: "20 hexadecimal digits", schema: .pattern("^[0-9A-Fa-f]{20}$")) {
      EddystoneNamespace($0)
    }
  }
}

extension ValueForm where Value == UInt64 {
  /// The instance of an Eddystone-UID.
  package static var instance: Self {
    ValueForm(expected: "12 hexadecimal digits", schema: .pattern("^[0-9A-Fa-f]{12}$")) { text in
      text.utf8.count == 12 ? Hex.bytes(text)?.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } : nil
    }
  }
}

extension ValueForm where Value == TimeSpan {
  /// A time with its unit, greater than zero.
  package static var time: Self { time(expected: example) { $0 > .zero } }
  /// A time with its unit, zero or more.
  package static var timeOrZero: Self { time(expected: example) { $0 >= .zero } }

  /// A time with its unit, within bounds.
  package static func time(in range: ClosedRange<TimeSpan>) -> Self {
    let expected = "a time with a unit, from \(range.lowerBound.written) to \(range.upperBound.written)"
    return time(expected: expected) { range.contains($0) }
  }

  private static var example: String { "a time with a unit, as in 350ms, 3s, 5m or 1h" }

  private static func time(
    expected: String,
    _ isGood: @escaping @Sendable (TimeSpan) -> Bool
  ) -> Self {
    ValueForm(
      expected: expected,
      schema: .duration,
      text: { $0.exactlyWritten },
      parse: { TimeSpan(written: $0).flatMap { isGood($0) ? $0 : nil } }
    )
  }
}

extension ValueForm where Value == TimeSpan {
  /// A length of time that is only written, in seconds.
  package static var seconds: Self { seconds(decimals: 3) }

  /// A length of time that is only written, in seconds with so many decimals.
  package static func seconds(decimals: Int, _ schema: Schema = .number) -> Self {
    let number = ValueForm<Double>.number(decimals: decimals, schema)
    return ValueForm(writing: schema) { number.write($0.seconds, as: $1, to: &$2) }
  }
}

extension ValueForm where Value == Timestamp {
  /// A time that is only written, as RFC 3339 has it.
  package static var moment: Self {
    let text = ValueForm<String>.text(.time)
    return ValueForm(writing: .time) { text.write($0.rfc3339, as: $1, to: &$2) }
  }

  /// A time as RFC 3339 has it.
  package static var instant: Self {
    ValueForm(
      expected: "a time as in RFC 3339: 2030-01-01T00:00:00Z",
      schema: .time,
      text: { $0.description },
      parse: { Timestamp(text: $0) }
    )
  }
}
