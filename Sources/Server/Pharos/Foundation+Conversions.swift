#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import PharosModel

// For programs that import Foundation, or FoundationEssentials: the types of the model do without them.

extension Date {
  /// The date of a time, to within a tenth of a microsecond; before and after everything stay what they are.
  public init(_ time: Timestamp) {
    switch time {
    case .distantPast: self = .distantPast
    case .distantFuture: self = .distantFuture
    default: self.init(timeIntervalSinceReferenceDate: (time - .reference).seconds)
    }
  }
}

extension Timestamp {
  /// The time of a date; the years before 1708 and after 2262 are before and after everything.
  public init(_ date: Date) {
    let span = TimeSpan.seconds(date.timeIntervalSinceReferenceDate)
    self = span.nanoseconds == -.max ? .distantPast : .reference + span
  }

  /// The date of the time.
  public var date: Date { Date(self) }

  /// The reference of Foundation's dates, 2001-01-01.
  fileprivate static let reference = Timestamp(seconds: 978_307_200)
}

extension UUID {
  /// The same UUID in Foundation's form.
  public init(_ uuid: UUID128) {
    self.init(uuid: unsafeBitCast((uuid.high.bigEndian, uuid.low.bigEndian), to: uuid_t.self))
  }
}

extension UUID128 {
  /// The same UUID, from Foundation's form.
  public init(_ uuid: UUID) {
    let (high, low) = unsafeBitCast(uuid.uuid, to: (UInt64, UInt64).self)
    self.init(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
  }
}
