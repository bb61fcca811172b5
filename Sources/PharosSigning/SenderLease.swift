public import PharosReports

/// The lease on the disk: the time until which a server may take signed datagrams without another write.
///
/// Every datagram that was taken has an R within the lease. So a server that reads the lease after a crash knows a
/// time by which the run before had ended, although the moment of the crash was not recorded. See ``SenderWindow``.
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
  /// The identifier of the machine's boot; the steady clock restarts with each boot.
  public var machineStart: String

  /// Makes a lease.
  public init(until: Timestamp, written: Timestamp, steady: TimeSpan, machineStart: String) {
    self.until = until
    self.written = written
    self.steady = steady
    self.machineStart = machineStart
  }

  /// Returns the latest R at which the run that wrote the lease can have taken a datagram.
  ///
  /// If the machine has not rebooted since, its steady clock gives what that run's R would be now, however the wall
  /// clock was set, and no datagram was taken in the future. Otherwise only the end of the lease is known.
  ///
  /// - Parameters:
  ///   - steady: the steady clock, read when that run is certainly over.
  ///   - machineStart: the identifier of the machine's present boot.
  /// - Returns: the earlier of the bounds that are known.
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
