import PharosEvents
import PharosReports

extension KalmanLevel {
  /// Writes the filter.
  func write(to writer: inout FieldWriter) {
    for number in [estimate, spread, measured] { writer.write(number) }
    writer.write(push)
  }

  /// Reads the filter.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init(first: Double(try reader.level("a filtered level")))
    spread = try reader.amount("a filter's spread")
    measured = try reader.amount("a filter's noise")
    push = try reader.number(Int8.self)
  }
}

extension ProximityClassifier {
  private static let classes: [RangedReading.Proximity] = [.unknown, .immediate, .near, .far]

  /// The number of the class.
  var number: UInt8 {
    switch proximity {
    case .unknown: 0
    case .immediate: 1
    case .near: 2
    case .far: 3
    }
  }

  /// Reads the class.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    proximity = ProximityClassifier.classes[Int(try reader.small("a proximity", through: 3))]
  }
}

extension SecondBuckets {
  /// Writes the seconds that are open.
  func write(to writer: inout FieldWriter) {
    writer.write(UInt32(open.count))
    for bucket in open {
      writer.write(bucket.second)
      writer.write(bucket.count)
      writer.write(bucket.levels)
      writer.write(bucket.sum)
      writer.write(bucket.squares)
      bucket.lastHeard.write(to: &writer)
    }
  }

  /// Reads the seconds that are open.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    for _ in 0..<(try reader.count(ofAtLeast: 40)) {
      var bucket = SecondBucket(second: try reader.second(), lastHeard: .distantPast)
      bucket.count = try reader.number(UInt32.self) & 0x7FFF_FFFF
      bucket.levels = try reader.number(UInt32.self) & 0x7FFF_FFFF
      bucket.sum = try reader.finite("a sum of levels")
      bucket.squares = try reader.finite("a sum of squares")
      bucket.lastHeard = try Timestamp(from: &reader)
      open.append(bucket)
    }
  }
}

extension FieldReader {
  /// Reads the number of a second that is far from the ends of its range.
  mutating func second() throws(FieldError) -> Int64 {
    let number = try number(Int64.self)
    guard number.magnitude <= 1 << 50 else { throw failure(.outOfRange(field: "a second")) }
    return number
  }
}

extension Extras {
  /// Writes the window of levels and the further addresses.
  func write(to writer: inout FieldWriter) {
    writer.write(window != nil)
    if let window { writer.write(window.samples) }
    writer.write(UInt8(others.count))
    for other in others {
      writer.write(other.key)
      other.sampleStart.write(to: &writer)
      other.until.write(to: &writer)
      other.allowed.write(to: &writer)
      other.intervals.write(to: &writer)
      other.history.write(to: &writer)
    }
  }
}

extension OtherAddress {
  init(from reader: inout FieldReader) throws(FieldError) {
    key = try reader.number(UInt64.self)
    sampleStart = try Timestamp(from: &reader)
    until = try Timestamp(from: &reader)
    allowed = try TimeSpan(from: &reader)
    intervals = try IntervalLearner(from: &reader)
    history = try LossHistory(from: &reader)
  }
}
