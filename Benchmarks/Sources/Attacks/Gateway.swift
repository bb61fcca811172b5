import NIOCore
import PharosModel
import PharosWire
import ServedProcess
import Synchronization

/// A gateway as it should be: reads no clock but its own, counts its datagrams, and signs them if it has a key.
final class Gateway: Sendable {
  private struct State {
    var encoder: PharosDatagramEncoder
    var sent: [[UInt8]] = []
  }

  /// The number of the newest datagrams that are kept for attacks that replay them.
  private static let kept = 2_000

  /// Who it is.
  let observer: ObserverID
  /// The key it was given.
  let key: Key?
  private let boot: UInt32
  private let start = NIODeadline.now()
  private let state: Mutex<State>

  init(_ observer: ObserverID, key: Key?, boot: UInt32 = 100) {
    self.observer = observer
    self.key = key
    self.boot = boot
    state = Mutex(
      State(encoder: PharosDatagramEncoder(observer: observer, bootID: boot, signingKeyID: key?.id))
    )
  }

  /// Its next datagram.
  ///
  /// - Parameters:
  ///   - payloads: the AD structures of what it hears.
  ///   - key: another key to sign with, as an attacker without this one would.
  /// - Returns: the bytes, signed if it signs.
  func datagram(_ payloads: [[UInt8]], signedWith key: Key? = nil) -> [UInt8] {
    var batch = ReportBatch()
    let observer = batch.index(of: observer)
    for (place, payload) in payloads.enumerated() {
      batch.append(
        AdvertMaker.report(
          payload,
          address: 0x3000_0000_0000 | UInt64(payload.count) << 16 | UInt64(place),
          level: -60,
          age: .zero,
          observer: observer,
          in: &batch
        )
      )
    }
    let uptime = NIODeadline.now() - start
    return state.withLock { state in
      for report in batch.reports { _ = state.encoder.append(report, from: batch) }
      var datagram = state.encoder.finish(uptime: TimeSpan(nanoseconds: uptime.nanoseconds))
      (key ?? self.key)?.sign(&datagram)
      state.sent.append(datagram)
      if state.sent.count > Gateway.kept { state.sent.removeFirst() }
      return datagram
    }
  }

  /// What it has sent of late.
  var sent: [[UInt8]] { state.withLock { $0.sent } }

  /// An advert of an untracked device, which changes nothing.
  static let plain: [UInt8] = [0x02, 0x01, 0x06]
}
