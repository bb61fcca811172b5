extension TimeSpan {
  /// The units that a time may be written in, the shortest first, and their lengths in nanoseconds.
  private static let units: [(name: String, nanoseconds: Double)] = [
    ("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9), ("d", 86_400e9),
  ]

  /// Reads a time as people write it: a number and its unit, as in `350ms`, `1.5s`, `5m` or `1h`.
  ///
  /// A bare number is no time: ten seconds and ten milliseconds look alike then.
  public init?(written text: some StringProtocol) {
    let number = text.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    let name = text.dropFirst(number.count)
    guard let unit = TimeSpan.units.first(where: { $0.name == name }) else { return nil }
    guard number.first?.isNumber == true, number.last?.isNumber == true else { return nil }
    guard let count = Double(number) else { return nil }
    let nanoseconds = (count * unit.nanoseconds).rounded()
    guard nanoseconds < 9.2e18 else { return nil }
    self.init(nanoseconds: Int64(nanoseconds))
  }

  /// The time with the largest unit that keeps it a short number, as in `350ms`, `1.5s` or `2h`.
  public var written: String {
    guard nanoseconds > 0 else { return nanoseconds == 0 ? "0s" : "-" + (TimeSpan.zero - self).written }
    let unit = TimeSpan.units.last { Double(nanoseconds) >= $0.nanoseconds } ?? TimeSpan.units[0]
    let count = Double(nanoseconds) / unit.nanoseconds
    let thousandths = (count * 1_000).rounded() / 1_000
    guard thousandths != thousandths.rounded() else { return "\(Int64(thousandths))\(unit.name)" }
    return "\(thousandths)\(unit.name)"
  }

  /// The time as it is read back to the nanosecond: a whole number of the largest unit that divides it.
  public var exactlyWritten: String {
    let unit = TimeSpan.units.last { nanoseconds % Int64($0.nanoseconds) == 0 } ?? TimeSpan.units[0]
    guard nanoseconds != 0 else { return "0s" }
    return "\(nanoseconds / Int64(unit.nanoseconds))\(unit.name)"
  }
}
