/// What one rule did in one scene, as counts and times.
struct PresenceTally: Codable, Sendable {
  /// Exits decided while the subject was there.
  var falseExits = 0
  /// Enters of a subject that was there and had been reported inside: what follows a false exit.
  var returns = 0
  /// Enters of a subject that was not there and had not just been.
  var ghostEnters = 0
  /// Departures that were reported.
  var exits = 0
  /// Departures of subjects that the rule did not have inside, so that there was nothing to tell.
  var missedDepartures = 0
  /// Stays that were over before the rule noticed them.
  var missedStays = 0
  /// From the last advert within range to the time when the exit was reported, in seconds.
  var exitDelays: [Double] = []
  /// The same where the observer was out of order when the subject left, from the time when it was back.
  var exitDelaysAfterOutage: [Double] = []
  /// From the first advert within range to the time when the enter was reported, in seconds.
  var enterDelays: [Double] = []
  /// How many received adverts that took.
  var enterAdverts: [Double] = []

  /// Adds what happened in another part of the scene.
  mutating func add(_ other: PresenceTally) {
    falseExits += other.falseExits
    returns += other.returns
    ghostEnters += other.ghostEnters
    exits += other.exits
    missedDepartures += other.missedDepartures
    missedStays += other.missedStays
    exitDelays += other.exitDelays
    exitDelaysAfterOutage += other.exitDelaysAfterOutage
    enterDelays += other.enterDelays
    enterAdverts += other.enterAdverts
  }

  /// Puts the times in order, once all parts are in.
  mutating func sort() {
    exitDelays.sort()
    exitDelaysAfterOutage.sort()
    enterDelays.sort()
    enterAdverts.sort()
  }
}
