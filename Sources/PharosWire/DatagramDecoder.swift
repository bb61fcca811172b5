public import PharosReports

/// Decodes datagrams of any format and counts what it decoded and refused.
///
/// Each shard has its own; apart from the counters it has no state, so that neither the order of the
/// datagrams nor how they were spread over shards changes a report.
public struct DatagramDecoder: Sendable {
  /// What was decoded and refused so far.
  public private(set) var counters = DatagramCounters()

  /// Makes a decoder with all counters at zero.
  public init() {}

  /// Appends the reports of a datagram to a batch and says its format, or leaves the batch as it was and says
  /// why.
  ///
  /// - Parameters:
  ///   - datagram: the whole payload of one UDP datagram.
  ///   - received: R, the time at which it was received.
  ///   - batch: what the reports are appended to.
  /// - Returns: the format, or why the datagram was refused.
  public mutating func decode(
    _ datagram: RawSpan,
    received: Timestamp,
    into batch: inout ReportBatch
  ) -> Result<WireFormat, DatagramRefusal> {
    guard !datagram.isEmpty else { return .failure(refuse(nil, .empty)) }
    guard let format = WireFormat(recognising: datagram) else { return .failure(refuse(nil, .unrecognised)) }
    let before = batch.count
    do throws(DatagramRefusal) {
      switch format {
      case .raddec: try RaddecFormat.decode(datagram, received: received, into: &batch)
      case .pharos: try PharosFormat.decode(datagram, received: received, into: &batch)
      case .json: try JSONFormat.decode(datagram, received: received, into: &batch)
      case .ingics: try IngicsFormat.decode(datagram, received: received, into: &batch)
      case .huawei: try HuaweiFormat.decode(datagram, received: received, into: &batch)
      case .minew: try MinewFormat.decode(datagram, received: received, into: &batch)
      }
    } catch {
      return .failure(refuse(format, error))
    }
    counters.count(format, reports: batch.count - before)
    return .success(format)
  }

  /// Counts a datagram whose end was lost because it was longer than the receive buffer; its reports are lost
  /// too.
  public mutating func refuseTruncated(_ beginning: RawSpan) -> DatagramRefusal {
    refuse(WireFormat(recognising: beginning), .truncated)
  }

  /// Counts a datagram that the check of its sender refused before it was decoded.
  public mutating func refuse(unread format: WireFormat?, _ reason: DatagramRefusal) {
    counters.count(format, reason)
  }

  /// Counts a datagram as refused that was decoded and then turned out to hold what its sender may not say.
  ///
  /// - Parameters:
  ///   - format: its format.
  ///   - reason: why it is refused.
  ///   - reports: how many reports it brought, which the caller throws away.
  public mutating func refuse(decoded format: WireFormat, _ reason: DatagramRefusal, reports: Int) {
    counters.takeBack(format, reports: reports)
    counters.count(format, reason)
  }

  private mutating func refuse(_ format: WireFormat?, _ reason: DatagramRefusal) -> DatagramRefusal {
    counters.count(format, reason)
    return reason
  }
}
