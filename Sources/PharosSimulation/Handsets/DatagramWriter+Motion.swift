import PharosReports

extension DatagramWriter {
  /// How many motion samples go into one report: 17 bytes each, three such reports to two datagrams.
  static let samplesAtOnce = 48
  /// How many access points go into one report: 13 bytes each, so that one report fits a datagram.
  static let accessPointsAtOnce = 90

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
