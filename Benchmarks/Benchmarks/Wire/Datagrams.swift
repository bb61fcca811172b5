import Benchmark
import PharosEncoders
import PharosModel
import PharosWire
import Traffic

/// Datagrams of one kind, decoded as a drain of the socket would: 64 at a time into one batch.
struct Datagrams {
  /// What they are.
  enum Kind {
    /// Our own, with so many adverts each.
    case pharos(Int)
    case raddec
    /// A gateway with 24 devices.
    case minew
    case ingics
    /// What no format begins with.
    case noise
    /// Our own, their ends missing.
    case cutShort
  }

  private let datagrams: [[UInt8]]
  private let itemsEach: [Int]
  private var decoder = DatagramDecoder()
  private var batch = ReportBatch()
  private let received = Workload.start(ofSecond: 0)

  init(_ kind: Kind) {
    var datagrams: [[UInt8]] = []
    var items: [Int] = []
    var workload = Workload(observers: 64, beacons: 32)
    workload.fill(batch: 0, ofSecond: 0)
    for (number, report) in workload.batch.reports.prefix(24 * 50).enumerated() {
      guard case .advert(let advert) = report.body else { continue }
      let bytes = workload.batch.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
      switch kind {
      case .pharos(let count):
        guard number % count == 0 else { continue }
        datagrams.append(Datagrams.pharos(from: number, count, workload.batch))
        items.append(count)
      case .cutShort:
        datagrams.append(Datagrams.pharos(from: number, 1, workload.batch).dropLast(3))
        items.append(1)
      case .raddec:
        guard let sighting = RaddecSighting(report, from: workload.batch) else { continue }
        guard let datagram = RaddecEncoder.encode(sighting) else { continue }
        datagrams.append(datagram)
        items.append(1)
      case .minew:
        datagrams.append(Datagrams.minew(Array(bytes)))
        items.append(24)
      case .ingics:
        let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
        datagrams.append(Array("$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,\(hex)\r\n".utf8))
        items.append(1)
      case .noise:
        datagrams.append([0x17, UInt8(number & 0xFF)] + bytes)
        items.append(1)
      }
    }
    self.datagrams = datagrams
    itemsEach = items
  }

  /// Decodes all of them.
  ///
  /// - Returns: how many adverts that were, or datagrams that are none.
  mutating func decode() -> Int {
    var items = 0
    for place in datagrams.indices {
      if place % 64 == 0 { batch.removeAll() }
      let datagram = datagrams[place]
      _ = decoder.decode(datagram.span.bytes, received: received, into: &batch)
      items += itemsEach[place]
    }
    blackHole(batch.reports.count)
    return items
  }

  private static func pharos(from first: Int, _ count: Int, _ batch: ReportBatch) -> [UInt8] {
    // All of one observer, as gateways send.
    var own = ReportBatch()
    for place in 0..<count {
      own.append(batch.reports[(first + place) % batch.reports.count], from: batch)
    }
    var encoder = PharosDatagramEncoder(observer: Workload.observer(0), bootID: 1, sequence: UInt32(first))
    var one = ReportBatch()
    let place = one.index(of: Workload.observer(0))
    for report in own.reports {
      guard case .advert(var advert) = report.body else { continue }
      advert.payload = one.append(
        payload: own.payloads[Int(advert.payload.lowerBound)..<Int(advert.payload.upperBound)]
      )
      one.append(
        Report(observer: place, received: report.received, timing: report.timing, body: .advert(advert))
      )
    }
    for report in one.reports { _ = encoder.append(report, from: one) }
    return encoder.finish(uptime: .seconds(100))
  }

  /// One frame of a gateway that heard 24 devices, each once.
  private static func minew(_ payload: [UInt8]) -> [UInt8] {
    var devices: [UInt8] = []
    for device in 0..<24 {
      devices +=
        [0xAC, 0x23, 0x3F, 0x01, 0x02, UInt8(device), 0, 1, UInt8(payload.count)] + payload + [0, 0xC4]
    }
    let length = 2 + 4 + 6 + 2 + devices.count + 1
    return [0xBB, 0x01, 0, 0, UInt8(length >> 8), UInt8(length & 0xFF), 0xAC, 0x23, 0x3F, 0, 0, 1, 0, 24]
      + devices + [0xDD]
  }
}
