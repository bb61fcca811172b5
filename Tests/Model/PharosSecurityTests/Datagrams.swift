import PharosModel
import PharosSecurity
import PharosTestSupport
import PharosWire

/// Keys and datagrams that the tests make.
enum Datagrams {
  /// A key made of a seed.
  static func key(_ seed: UInt64) -> ObserverKey {
    var generator = SeededGenerator(seed: seed)
    return ObserverKey.random(using: &generator)
  }

  /// A signed datagram with one advert for the sender, and one for each of the others.
  static func signed(
    by key: ObserverKey,
    observer: ObserverID = .eui48(1),
    bootID: UInt32 = 1,
    sequence: UInt32 = 0,
    uptime: TimeSpan = .seconds(1),
    naming others: [ObserverID] = [],
    adverts: Int = 1
  ) -> [UInt8] {
    var encoder = PharosDatagramEncoder(
      observer: observer,
      bootID: bootID,
      sequence: sequence,
      signingKeyID: key.id
    )
    var batch = ReportBatch()
    for reporter in [observer] + others {
      for _ in 0..<adverts {
        let advert = Advert(
          address: DeviceAddress(bits: 0xC0DE_0000_0001, kind: .public),
          rssi: RSSI(dBm: -60),
          pdu: .nonConnectable,
          payload: batch.append(
            payload: [2, 1, 6, 26, 0xFF, 0x4C, 0, 2, 21] + Array(repeating: 7, count: 21)
          )
        )
        batch.append(
          Report(
            observer: batch.index(of: reporter),
            received: Timestamp(seconds: 1),
            timing: .received,
            body: .advert(advert)
          )
        )
      }
    }
    for report in batch.reports { _ = encoder.append(report, from: batch) }
    var datagram = encoder.finish(uptime: uptime)
    DatagramSigner(key: key).sign(&datagram)
    return datagram
  }

  /// The head of a datagram with these numbers.
  static func head(
    bootID: UInt32,
    sequence: UInt32,
    uptime: TimeSpan
  ) throws -> PharosDatagramHead {
    var encoder = PharosDatagramEncoder(observer: .eui48(1), bootID: bootID, sequence: sequence)
    return try PharosDatagramHead.head(of: encoder.finish(uptime: uptime).span.bytes)
  }
}
