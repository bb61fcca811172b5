import PharosReports

/// What a handset's platform remembers of access points: it repeats them from scan to scan until it forgets them.
struct ScanMemory: Sendable {
  private struct Entry: Sendable {
    let heard: TimeSpan
    let level: Int8
  }

  private var entries: [Entry?]

  init(accessPoints: Int) { entries = Array(repeating: nil, count: accessPoints) }

  /// Takes note of what a scan heard.
  mutating func hear(_ number: Int, level: Double, at time: TimeSpan) {
    entries[number] = Entry(heard: time, level: Int8(max(-126, min(-1, level.rounded()))))
  }

  /// What the platform lists at a time, the loudest first.
  mutating func list(
    at time: TimeSpan,
    memory: TimeSpan,
    addresses: [DeviceAddress],
    frequency: UInt16
  ) -> [AccessPoint] {
    var found: [AccessPoint] = []
    for number in entries.indices {
      guard let entry = entries[number] else { continue }
      guard time - entry.heard <= memory else {
        entries[number] = nil
        continue
      }
      found.append(
        AccessPoint(
          bssid: addresses[number],
          rssi: RSSI(dBm: entry.level),
          frequency: frequency,
          lastHeard: time - entry.heard
        )
      )
    }
    return found.sorted { ($0.rssi?.dBm ?? -127, $1.bssid) > ($1.rssi?.dBm ?? -127, $0.bssid) }
  }
}
