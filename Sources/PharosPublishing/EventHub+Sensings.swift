public import PharosEvents
public import PharosReports

extension EventHub {
  /// The sensings of handsets, from which the server computes fixes; for programs that compute fixes in their own way.
  ///
  /// The server publishes them only if it has a venue to locate subjects in. A handset that sends raw motion causes
  /// about a hundred a second. At most ``EventPublisher/defaultLimit`` of them wait for a subscriber; older ones are
  /// dropped and counted.
  public var sensings: EventPublisher<Sensing, Never> { sensings { _ in true } }

  /// The Wi-Fi scans that handsets report.
  public var wifiScans: EventPublisher<Sensing, Never> {
    sensings { sensing in if case .accessPoints = sensing.body { true } else { false } }
  }

  /// The motion that handsets report, as samples or as steps.
  public var motion: EventPublisher<Sensing, Never> {
    sensings { sensing in if case .motion = sensing.body { true } else { false } }
  }

  /// The beacons that handsets hear, one level at a time.
  public var heardBeacons: EventPublisher<Sensing, Never> {
    sensings { sensing in if case .beacon = sensing.body { true } else { false } }
  }

  /// The locations from outside that handsets report.
  public var outsideFixes: EventPublisher<Sensing, Never> {
    sensings { sensing in if case .outside = sensing.body { true } else { false } }
  }

  /// What observers range once a second, for one constraint or for all, each beacon as somebody who locates wants it.
  ///
  /// A coarser stream than ``heardBeacons``: one mean level a second. Beacons without a sample in that second are left out.
  public func rangings(_ constraint: BeaconConstraint? = nil) -> EventPublisher<Sensing, Never> {
    hub.stream { batch in
      batch.flatMap { event -> [Sensing] in
        guard let ranging = Ranging(event), constraint == nil || ranging.constraint == constraint else {
          return []
        }
        return ranging.sensings(decidedAt: event.decidedAt, ordinal: event.ordinal)
      }
    }
  }

  private func sensings(_ isWanted: @escaping @Sendable (Sensing) -> Bool) -> EventPublisher<Sensing, Never> {
    sensed.stream { $0.filter(isWanted) }
  }
}

extension Ranging {
  /// Each beacon that was heard in the second, as a level at its end.
  fileprivate func sensings(decidedAt: Timestamp, ordinal: UInt64) -> [Sensing] {
    beacons.filter { $0.samples > 0 }
      .map { reading in
        Sensing(
          observer: observer,
          time: time,
          decidedAt: decidedAt,
          ordinal: ordinal,
          body: .beacon(
            reading.beacon,
            address: reading.beacon.address,
            rssi: RSSI(dBm: Int8(clamping: Int(reading.rssi.rounded()))),
            accuracy: reading.accuracy >= 0 ? Meters(reading.accuracy) : nil
          )
        )
      }
  }
}
