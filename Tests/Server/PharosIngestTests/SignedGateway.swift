import PharosIngest
import PharosModel
import PharosSecurity
import PharosWire
import Synchronization

/// A gateway that signs what it sends.
struct SignedGateway {
  let observer: ObserverID
  let key: ObserverKey
  private(set) var encoder: PharosDatagramEncoder
  private let signer: DatagramSigner

  init(_ observer: ObserverID, _ key: ObserverKey, bootID: UInt32 = 1, sequence: UInt32 = 0) {
    self.observer = observer
    self.key = key
    encoder = PharosDatagramEncoder(
      observer: observer,
      bootID: bootID,
      sequence: sequence,
      signingKeyID: key.id
    )
    signer = DatagramSigner(key: key)
  }

  /// The next datagram: one iBeacon, heard by the gateway or by others for which it speaks.
  mutating func datagram(minor: UInt16, uptime: TimeSpan, heardBy others: [ObserverID] = []) -> [UInt8] {
    var batch = ReportBatch()
    for reporter in others.isEmpty ? [observer] : others {
      batch.appendAdvert(
        by: reporter,
        address: 0xC0DE_0000_0000 | UInt64(minor),
        rssi: -60,
        data: Samples.iBeacon(minor: minor),
        at: Timestamp(seconds: 1)
      )
    }
    for report in batch.reports { _ = encoder.append(report, from: batch) }
    var datagram = encoder.finish(uptime: uptime)
    signer.sign(&datagram)
    return datagram
  }
}

/// What stands for the disk that replay windows are kept on.
final class KeptWindows: Sendable {
  private struct State {
    var records: [SenderName: SenderRecord] = [:]
    var lease: SenderLease?
    var writes = 0
    var isBroken = false
  }

  struct Broken: Error {}

  private let state = Mutex(State())

  var writes: Int { state.withLock { $0.writes } }

  var records: [SenderRecord] { state.withLock { Array($0.records.values) } }

  func breakDown() { state.withLock { $0.isBroken = true } }

  /// The settings of a run that goes on from what is kept.
  func signing(_ observers: [KeyedObserver], clock: IngestClock, machineStart: String = "a") -> SignedIngest {
    let (records, lease) = state.withLock { (Array($0.records.values), $0.lease) }
    return SignedIngest(
      observers: observers,
      records: records,
      endedBy: lease?.end(steady: clock.steady(), machineStart: machineStart) ?? .distantPast,
      machineStart: machineStart
    ) { keeping in
      try self.state.withLock { state in
        guard !state.isBroken else { throw Broken() }
        for record in keeping.records { state.records[record.sender] = record }
        state.lease = keeping.lease
        state.writes += 1
      }
    }
  }
}

extension KeyedObserver {
  /// An observer with keys that do not expire.
  init(_ id: ObserverID, _ keys: ObserverKey..., radios: [ObserverID] = []) {
    self.init(
      id: id,
      keys: keys.map { Entry(key: $0, createdAt: Timestamp(seconds: 0)) },
      radios: radios
    )
  }
}
