package import PharosReports

/// What the next heartbeat will say.
package struct HeartbeatTally: Sendable {
  /// Adverts heard since the last one.
  private var heard: UInt64 = 0
  /// Adverts lost since the last one.
  private var dropped: UInt64 = 0

  package init() {}

  package mutating func hear() { heard += 1 }

  package mutating func drop(_ adverts: UInt64) { dropped += adverts }

  /// A heartbeat that was never sent gives back what it would have said.
  package mutating func restore(_ heartbeat: Heartbeat) {
    heard += UInt64(heartbeat.advertsHeard ?? 0)
    dropped += UInt64(heartbeat.dropped)
  }

  /// Returns the heartbeat to send now; the counts restart at what did not fit into it.
  package mutating func take(scanDuty: Float?) -> Heartbeat {
    // The highest number stands for "not counted".
    let told = (heard: min(heard, UInt64(UInt32.max - 1)), dropped: min(dropped, UInt64(UInt32.max)))
    heard -= told.heard
    dropped -= told.dropped
    return Heartbeat(advertsHeard: UInt32(told.heard), scanDuty: scanDuty, dropped: UInt32(told.dropped))
  }
}
