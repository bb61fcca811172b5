package import PharosReports

/// The AltBeacon library for Android: enter on the first packet, exit when a scan cycle ends and the last packet is too
/// old.
///
/// - Source: `Settings.kt` (exit period 30,000 ms, foreground scan cycle 1,100 ms), `BeaconManager.DEFAULT_EXIT_PERIOD`
///   (10,000 ms, what older releases used and much code still sets), `RegionMonitoringState` (the packet must be older
///   than the exit period, asked at the end of a scan cycle only).
/// - Simplified: scan cycles follow one another without a pause, as in the foreground; in the background the library
///   scans every five minutes and is later by as much. They are counted from the first packet.
package struct AltBeacon: Comparator {
  /// What a table calls it: `AltBeacon 30 s`.
  package let name: String
  /// It says enter and exit, for each observer by itself: it runs on a telephone.
  package var decidesPresence: Bool { true }
  /// It knows no rooms.
  package var decidesRooms: Bool { false }

  /// How long a scan cycle takes.
  package static let scanCycle = TimeSpan.milliseconds(1_100)

  private var timeout: SilenceTimeout

  private init(seconds: Int64) {
    name = "AltBeacon \(seconds) s"
    // Older than the period, not as old: so a nanosecond more.
    let period = TimeSpan.milliseconds(seconds * 1_000) + .oneNanosecond
    timeout = SilenceTimeout(span: period, period: AltBeacon.scanCycle)
  }

  /// The default of the settings.
  package static func thirtySeconds() -> AltBeacon { AltBeacon(seconds: 30) }

  /// The default of older releases.
  package static func tenSeconds() -> AltBeacon { AltBeacon(seconds: 10) }

  /// Takes a packet.
  package mutating func heard(_ sighting: Sighting, into verdicts: inout [Verdict]) {
    timeout.heard(sighting, into: &verdicts)
  }

  /// Lets time pass.
  package mutating func advance(to time: Timestamp, into verdicts: inout [Verdict]) {
    timeout.advance(to: time, into: &verdicts)
  }
}
