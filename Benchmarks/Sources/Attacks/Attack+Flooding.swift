import Foundation
import PharosModel
import ServedProcess

extension Attack {
  /// Good datagrams, but far too much in them.
  static let flooding: [Attack] = [
    Attack(name: "10 million beacons at one gateway, all of them asked about", wanted: "bounded") { arena in
      let adverts = 24
      let datagrams = arena.tries(10_000_000, quick: 200_000) / adverts
      let flood = Flood(observers: 1, adverts: adverts)
      let (before, after) = try await arena.flood(datagrams) { flood.datagram($0) }
      return bounded(
        before,
        after,
        tried: datagrams * adverts,
        kept: "pharos_monitoring_tracks",
        maximum: 65_536 + 1_024,
        evicted: "track"
      )
    },
    Attack(name: "100 thousand observers", wanted: "bounded") { arena in
      let datagrams = arena.tries(100_000, quick: 40_000)
      let flood = Flood(observers: datagrams, adverts: 1)
      let (before, after) = try await arena.flood(datagrams) { flood.datagram($0) }
      return bounded(
        before,
        after,
        tried: datagrams,
        kept: "pharos_monitoring_observers",
        maximum: 16_384,
        evicted: "observer"
      )
    },
  ]

  /// What came of it where nothing is refused: the table stays within its bound, and who was there first is not touched.
  private static func bounded(
    _ before: Metrics,
    _ after: Metrics,
    tried: Int,
    kept: String,
    maximum: Int,
    evicted: String
  ) -> Outcome {
    let now = Int(after.sum(kept))
    let gone = Int(
      after.sum("pharos_monitoring_evictions_total", evicted)
        - before.sum("pharos_monitoring_evictions_total", evicted)
    )
    let dropped = Int(
      after.sum("pharos_ingest_kernel_drops_total") - before.sum("pharos_ingest_kernel_drops_total")
    )
    var note = "\(now) kept (at most \(maximum)), \(gone) gave way"
    if dropped > 0 { note += ", \(dropped) datagrams dropped by the kernel" }
    return Outcome(tried: tried, held: now <= maximum ? tried : 0, note: note)
  }
}

extension Arena {
  /// Sends what a closure makes, at once but not faster than the server's users allow on one machine, and waits until it is
  /// counted.
  func flood(_ count: Int, _ datagram: (Int) -> [UInt8]) async throws -> (before: Metrics, after: Metrics) {
    let socket = try DatagramSocket(to: open)
    let before = try await metrics()
    for number in 0..<count {
      socket.send(datagram(number))
      if number % 512 == 511 { try await Task.sleep(for: .milliseconds(2)) }
    }
    return (before, try await waitForDatagrams(before, sent: count))
  }
}

/// Makes datagrams each of which reports new beacons, or is from a new observer.
final class Flood: Sendable {
  private let observers: Int
  private let adverts: Int
  private let template: [UInt8]
  /// Where the observer's last bytes and the first advert's record begin; the article on the datagram gives the layout.
  private static let observerPlace = 32
  private static let recordsPlace = 36
  private static let recordLength = 3 + 15 + 30

  init(observers: Int, adverts: Int) {
    self.observers = observers
    self.adverts = adverts
    let payload = AdvertMaker.iBeacon(Arena.bait, major: 0, minor: 0)
    template = Gateway(.eui48(0x0242_0000_0000), key: nil, boot: 1)
      .datagram([[UInt8]](repeating: payload, count: adverts))
  }

  /// A datagram by its number; its sequence is its number, so that none is missing.
  func datagram(_ number: Int) -> [UInt8] {
    var bytes = template
    write(UInt32(truncatingIfNeeded: observers > 1 ? 0 : number), at: 16, into: &bytes)
    if observers > 1 { write(UInt32(truncatingIfNeeded: number), at: Flood.observerPlace, into: &bytes) }
    for advert in 0..<adverts {
      let record = Flood.recordsPlace + advert * Flood.recordLength
      let identity = UInt32(truncatingIfNeeded: number * adverts + advert)
      // The last four bytes of the address, then major and minor in the iBeacon's payload.
      write(identity, at: record + 3 + 11, into: &bytes)
      write(identity, at: record + 3 + 15 + 25, into: &bytes)
    }
    return bytes
  }

  private func write(_ word: UInt32, at place: Int, into bytes: inout [UInt8]) {
    for byte in 0..<4 { bytes[place + byte] = UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * byte)) }
  }
}
