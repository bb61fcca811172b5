import PharosModel

extension DatagramWriter {
  /// The maximum number of motion samples in one report: 17 bytes each, so that one report fits a datagram.
  private static let samplesAtOnce = 48
  /// The maximum number of access points in one report: 13 bytes each, so that one report fits a datagram.
  private static let accessPointsAtOnce = 90

  /// Appends motion samples, whose ages are relative to the report.
  mutating func append(motion samples: [MotionSample], age: TimeSpan) {
    var first = 0
    while first < samples.count {
      let part = samples[first..<min(samples.count, first + DatagramWriter.samplesAtOnce)]
      append(bytes: part.count * 17, age: age) { .motion($0.append(motionSamples: part)) }
      first += DatagramWriter.samplesAtOnce
    }
  }

  /// Appends a Wi-Fi scan, even if it found no access point.
  mutating func append(scan: [AccessPoint], age: TimeSpan) {
    var first = 0
    repeat {
      let part = scan[first..<min(scan.count, first + DatagramWriter.accessPointsAtOnce)]
      append(bytes: part.count * 13, age: age) { .wifiScan($0.append(accessPoints: part)) }
      first += DatagramWriter.accessPointsAtOnce
    } while first < scan.count
  }
}

/// The adverts that a handset or an observer hears within a period.
struct HeardAdverts {
  private var adverts: [(time: TimeSpan, number: Int, level: Int8)] = []

  /// The adverts in order of time, each with the number of the device that sent it and its level in dBm.
  var inOrder: [(time: TimeSpan, number: Int, level: Int8)] {
    adverts.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
  }

  /// Adds an advert, with its level as a radio reports it.
  mutating func add(_ level: Double, of number: Int, at time: TimeSpan) {
    adverts.append((time, number, Int8(max(-126, min(-1, level.rounded())))))
  }

  /// Writes them with their ages at the end of the period.
  func write(to writer: inout DatagramWriter, at end: TimeSpan, _ frame: (Int) -> AirFrame) {
    for entry in inOrder {
      let frame = frame(entry.number)
      let advert = Advert(
        address: frame.address,
        rssi: RSSI(dBm: entry.level),
        pdu: .nonConnectable,
        payload: 0..<0
      )
      writer.append(advert, payload: frame.payload, age: end - entry.time)
    }
  }
}
