package import NIOCore
import PharosModel
import PharosWire
import Synchronization

/// Observers that enter a region again and again, so that it can be timed how long a decision takes to arrive.
///
/// Each cycle is four seconds long: the marker's beacon is heard once, which is an enter at once; two seconds of silence are
/// an exit; then it may begin again. An advert of another transmitter every second proves the observer alive, without
/// which there would be no exit.
package final class Markers: Sendable {
  /// How many there are, so that 64 decisions a second are timed.
  package static let count = 256
  /// How long a cycle is.
  ///
  /// - Units: seconds.
  package static let cycle = 4
  /// The beacon's UUID.
  package static let uuid = "A0A0A0A0-0000-4000-8000-00000000AAAA"
  /// What the site file says of them, as a line of a list of regions.
  package static let region =
    "{ id: markers, subject: observer, uuid: \(uuid), enter: { samples: 1 }, exit: { silence: 2s } }"

  private static let first: UInt64 = 0x5C23_0000_0000

  private struct State {
    var encoders: [PharosDatagramEncoder]
    var sent: [NIODeadline?]
  }

  private let state: Mutex<State>

  /// Makes them.
  ///
  /// - Parameter boot: their boot id, greater than that of earlier ones.
  package init(boot: UInt32 = 1) {
    let encoders = (0..<Markers.count).map {
      PharosDatagramEncoder(observer: .eui48(Markers.first | UInt64($0)), bootID: boot)
    }
    state = Mutex(State(encoders: encoders, sent: Array(repeating: nil, count: Markers.count)))
  }

  /// The datagram by which a marker enters; from now on it is timed.
  package func enter(_ marker: Int) -> [UInt8] {
    state.withLock { state in
      state.sent[marker] = .now()
      return Markers.datagram(
        AdvertMaker.iBeacon(Markers.uuid, major: 1, minor: UInt16(marker)),
        of: marker,
        &state.encoders[marker]
      )
    }
  }

  /// The datagram that proves a marker's observer alive.
  package func proof(_ marker: Int) -> [UInt8] {
    state.withLock { Markers.datagram([0x02, 0x01, 0x06], of: marker, &$0.encoders[marker]) }
  }

  /// How long an event took from the marker's datagram to here, if it is the enter of one that is being timed.
  package func delay(of event: EventStream.Event) -> TimeAmount? {
    guard event.type == "pharos.region.enter", let subject = event.subject,
      let bits = UInt64(subject.filter { $0 != ":" }.suffix(12), radix: 16),
      bits >= Markers.first, bits < Markers.first + UInt64(Markers.count)
    else { return nil }
    return state.withLock { state in
      let marker = Int(bits - Markers.first)
      guard let sent = state.sent[marker] else { return nil }
      state.sent[marker] = nil
      return event.time - sent
    }
  }

  private static func datagram(
    _ payload: [UInt8],
    of marker: Int,
    _ encoder: inout PharosDatagramEncoder
  ) -> [UInt8] {
    var batch = ReportBatch()
    let report = AdvertMaker.report(
      payload,
      address: 0x2000_0000_0000 | UInt64(marker) << 8 | UInt64(payload.count),
      level: -60,
      age: .zero,
      observer: batch.index(of: encoder.observer),
      in: &batch
    )
    _ = encoder.append(report, from: batch)
    return encoder.finish(uptime: .zero)
  }
}
