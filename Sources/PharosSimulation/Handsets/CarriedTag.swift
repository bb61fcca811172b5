package import PharosReports

/// A tag that somebody carries about, for the observers of a venue to hear.
package struct CarriedTag: Hashable, Sendable {
  /// Who it says it is: proximity UUID, major and minor, or an address.
  package var beacon: BeaconID
  /// The way of its carrier.
  package var journey: Journey
  /// The level that it has at one metre, in dBm.
  package var power: Double
  /// The time from one advert to the next.
  package var interval: TimeSpan
  /// What the body of its carrier takes from what is straight behind them, in dB.
  package var bodyLoss: Double

  /// Makes a tag.
  package init(
    beacon: BeaconID,
    journey: Journey,
    power: Double = -59,
    interval: TimeSpan = .milliseconds(500),
    bodyLoss: Double = 5
  ) {
    self.beacon = beacon
    self.journey = journey
    self.power = power
    self.interval = interval
    self.bodyLoss = bodyLoss
  }
}
