public import PharosReports

/// Up to when a server may take signed datagrams without writing anything more, as the disk holds it.
///
/// Whatever was taken has an R within the lease. So whoever finds it after a crash knows a time by which all had ended, without
/// anybody having noted the moment of the crash. See ``SenderWindow``.
public struct SenderLease: Equatable, Sendable {
  /// How long a lease lasts.
  ///
  /// Ten seconds: less than a machine takes to come back from a power cut, so that nothing a gateway sends then falls into it.
  public static let length = TimeSpan.seconds(10)
  /// How long before its end it is renewed.
  ///
  /// Half of it: a disk may take five seconds for a write without anything waiting for it.
  public static let renewal = TimeSpan.seconds(5)

  /// The last R at which anything may be taken.
  public var until: Timestamp
  /// R when the lease was written.
  public var written: Timestamp
  /// The steady clock at that time.
  public var steady: TimeSpan
  /// What tells one start of the machine from another, since the steady clock begins anew with each.
  public var machineStart: String

  /// Makes a lease.
  public init(until: Timestamp, written: Timestamp, steady: TimeSpan, machineStart: String) {
    self.until = until
    self.written = written
    self.steady = steady
    self.machineStart = machineStart
  }

  /// Up to when the run that wrote it can have taken anything, by its R.
  ///
  /// While the machine has not started anew, its steady clock tells what that run's R would be now, whatever was done to the wall
  /// clock; nothing was taken in the future. Otherwise the lease's end is all that is known.
  ///
  /// - Parameters:
  ///   - steady: the steady clock, read when that run is certainly over.
  ///   - machineStart: what tells this start of the machine from others.
  /// - Returns: the earlier of what is known.
  public func end(steady: TimeSpan, machineStart: String) -> Timestamp {
    guard machineStart == self.machineStart, steady >= self.steady else { return until }
    return min(until, written + (steady - self.steady))
  }
}

extension SenderLease: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    until.write(to: &writer)
    written.write(to: &writer)
    steady.write(to: &writer)
    writer.write(machineStart)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    until = try Timestamp(from: &reader)
    written = try Timestamp(from: &reader)
    steady = try TimeSpan(from: &reader)
    machineStart = try reader.text()
  }
}
