package import PharosModel

/// The constants of the zone decision; the article <doc:WhichRoom> explains how they work together.
package enum ZoneRules {
  // MARK: What levels say about zones

  /// The evidence that one decibel of lead gives in a second.
  ///
  /// 3 nats: the levels are means whose uncertainty is known and taken off, so a lead beyond it is no chance and counts
  /// within a second or two.
  ///
  /// - Units: nats in a second and decibel.
  package static let leadEvidence = 3.0
  /// The part of a lead that chance explains and that is taken off for a beacon that lies still, in standard deviations of
  /// the lead.
  ///
  /// 1: what is less gives neither zone an advantage. For a beacon that is carried, or in no zone yet, nothing is taken off,
  /// because then the zone that is ahead is the better guess.
  package static let chanceDeviations = 1.0
  /// The amount by which the observers of the right zone hear a beacon louder than no zone's observer would.
  ///
  /// 8 dB: half the distance of a room (6 dB) and a light wall between (2 to 4 dB).
  ///
  /// - Units: dB.
  package static let separation = 8.0
  /// The variation of levels between the places within a zone.
  ///
  /// 3.5 dB, as furniture gives it indoors (Rappaport, Wireless Communications, table 4.6: 3 to 7 dB).
  ///
  /// - Units: dB, one standard deviation.
  package static let placeDeviation = 3.5
  /// The maximum level difference with which one observer can count for or against a zone.
  ///
  /// 12 dB: a body takes 10 to 20 dB from one observer for seconds, and the effect of that must be limited.
  ///
  /// - Units: dB.
  package static let cap = 12.0
  /// The same for a floor, of which up to three observers are compared, the loudest of each with the loudest.
  ///
  /// 8 dB: less than any two others can outweigh.
  ///
  /// - Units: dB.
  package static let floorCap = 8.0
  /// The weight of the second loudest observer of a zone relative to the loudest.
  ///
  /// 1: two observers that agree are the better witness than one, whose level a body or a reflection shifts.
  package static let secondWeight = 1.0
  /// The weight of the second loudest observer of a floor relative to the loudest and the third.
  ///
  /// 1.5: the loudest alone may be a gateway above a hole in the ceiling, so the second is the better witness.
  package static let secondFloorWeight = 1.5
  /// The level that is assumed for an observer that does not hear a beacon.
  ///
  /// −95 dBm, where common gateways stop receiving.
  ///
  /// - Units: dBm.
  package static let sensitivity = -95.0
  /// The longest time that one second's evidence represents when a beacon advertises less often.
  ///
  /// 4 s: a beacon that advertises every 10 s does not count ten times.
  package static let maximumRepresentedTime = TimeSpan.seconds(4)

  /// The interval between two looks at a beacon's levels.
  ///
  /// Every half second, as often as summaries come; between them a look waits for the first of the next ones.
  package static let period = TimeSpan.milliseconds(500)
  /// The longest time between two looks at a beacon that no observer hears, as a share of its silence.
  ///
  /// A thousandth: after 15 minutes of silence there is a look every 0.9 s, so a decision that depends on silence is
  /// late by a thousandth of the silence at most. Where time jumps by years, as in captures of devices that learn the
  /// date late, the jump takes some thousand looks.
  package static let silentPause = 0.001

  // MARK: How beacons move

  /// The rate at which a moving beacon enters a given neighbouring zone.
  ///
  /// Every 7 s: a walker crosses a room in less. It is also the rate at which evidence is forgotten, so that a beacon
  /// leaves a zone within seconds even if the zone was right for an hour.
  ///
  /// - Units: 1/s.
  package static let walkingRate = 0.15
  /// The same while its levels indicate that it lies still.
  ///
  /// Every 67 s: levels of a beacon that is carried along a line of equal level look still, so it is not zero.
  ///
  /// - Units: 1/s.
  package static let restingRate = 0.015
  /// The rate at which it enters a zone of the floor to which no door is known, relative to a zone with a door.
  ///
  /// A hundredth: a list of neighbours may lack a door.
  package static let strayShare = 0.01
  /// The rate at which it changes floors without stairs, relative to a zone with a door.
  ///
  /// A thousandth: a lift is not in the list.
  package static let climbShare = 0.001
  /// The rate at which it leaves all zones, or returns, relative to a zone with a door.
  ///
  /// A tenth.
  package static let leavingShare = 0.1

  // MARK: When a zone is decided

  /// The probability from which on a beacon that lies still is in another zone.
  ///
  /// 0.95: it is the smaller of two, that of the zone after all levels so far, and that of a lead which is no chance. One
  /// standard deviation of the lead gives 0.85, one and three quarters give this. A beacon near the border of two zones is
  /// therefore reported a little later.
  package static let certainty = 0.95
  /// The same of a beacon that is carried.
  ///
  /// 0.6: the beacon is as likely in the next zone as in the present one, so waiting is wrong as often as changing, but
  /// a hair's breadth is no reason to change. In between it is weighed by the probability of the carriage.
  package static let openCertainty = 0.6
  /// The same of a first zone after ``firstGuess``.
  ///
  /// 0.51: more probable than all others, whose event says how probable it is.
  package static let guessCertainty = 0.51
  /// The time for which a beacon must be heard before it is in a first zone.
  ///
  /// 1.5 s: three summaries of each observer, so that the one that loses an advert is not left out.
  package static let firstEvidence = TimeSpan.milliseconds(1_500)
  /// The time for which a beacon must be heard before its first zone is the one that is ahead, not one that is clear.
  ///
  /// 3 s: the first report of a zone is due within 5 s, and every second before it spares some wrong ones.
  package static let firstGuess = TimeSpan.seconds(3)
  /// The time for which another zone must be certain where no door is known between the two zones.
  ///
  /// 10 s: a person cannot walk through a wall, but a list of neighbours may lack a door. So such a change is slow, not
  /// impossible.
  package static let strayDwell = TimeSpan.seconds(10)
  /// The same where no stairs are known between their floors.
  ///
  /// 15 s: as long as a lift takes.
  package static let climbDwell = TimeSpan.seconds(15)
  /// The chance that the observers of a beacon's zone have not spoken yet, up to which it is in a first zone.
  ///
  /// 0.01: one first zone in a hundred may be wrong.
  package static let unspokenChance = 0.01
  /// The chance that an observer misses an advert of a beacon in its zone.
  ///
  /// 0.25: scanners on three channels miss 10 to 30 % of the adverts beside them.
  package static let missChance = 0.25
  /// The share of observers that upload as seldom as once a minute, and the time within which each of them has done so once.
  ///
  /// One in fifty; a minute, and what the network takes. It matters in that time alone, and for a beacon that others hear weakly.
  package static let lateShare = 0.02
  package static let firstUpload = TimeSpan.seconds(64)
  /// The level at which half of the beacons in a zone are heard by its observer, and the scale of the logistic curve around
  /// it: −65 ± 9 dBm, from two to ten metres without a wall.
  ///
  /// - Units: dBm; dB.
  package static let usualLevel = -65.0
  package static let usualLevelScale = 5.0
  /// The probability below which the zone that a beacon is in is doubted.
  ///
  /// 0.1: far below a half, so that a beacon between two zones stays where it was.
  package static let doubt = 0.1
  /// The time for which the zone must be doubted, while no other zone is certain, before a beacon is in none.
  ///
  /// 15 s: enough time for a new zone that is merely slow to become certain.
  package static let notSureDwell = TimeSpan.seconds(15)

  // MARK: Levels

  /// The change of a level in a second while a beacon is carried.
  ///
  /// 2.5 dB: what a walk past a gateway does to it at two or three metres.
  ///
  /// - Units: dB.
  package static let wander = 2.5
  /// The rate at which the mean of a level changes while a beacon lies still.
  ///
  /// 1.2 dB in an hour: furniture, weather and batteries.
  ///
  /// - Units: dB² in a second.
  package static let drift = 0.0004
  /// The rate at which a beacon at rest is picked up.
  ///
  /// Once in 33 minutes: a tag that is used. Ten times as often would cost a second less for each carriage, and would
  /// take the deviations of a crowd for carriages once an hour.
  ///
  /// - Units: 1/s.
  package static let pickUpRate = 0.0005
  /// The rate at which a beacon that is carried is set down.
  ///
  /// Every 5 s: the way from room to room.
  ///
  /// - Units: 1/s.
  package static let setDownRate = 0.2
  /// The probability of a carriage below which a beacon counts as at rest, for what is learned from it.
  package static let restProbability = 0.1
  /// The share of a summary's evidence for a carriage, or against one, that counts within a second of the one before.
  ///
  /// 0.7, the root of a half: two halves of a second share half of what fades.
  package static let halfEvidence = 0.7
  /// The most that one summary of one observer counts for a carriage, or against one.
  ///
  /// 8 nats: against ``pickUpRate``, the summary of one observer does not make a carriage likely.
  ///
  /// - Units: nats.
  package static let maximumEvidence = 8.0
  /// The mean time between two bodies in the way of one observer, and the time that one stays.
  ///
  /// Ten minutes and 6 s.
  ///
  /// - Units: seconds.
  package static let bodyPause = 600.0
  package static let bodyTime = 6.0
  /// The attenuation by a body, and its deviation.
  ///
  /// 15 ± 5 dB, the usual 10 to 20 dB.
  ///
  /// - Units: dB.
  package static let bodyLoss = 15.0
  package static let bodyDeviation = 5.0
  /// The initial scatter of single adverts around the level.
  ///
  /// Learned values lie between ``minimumScatter`` and twice this value.
  ///
  /// 4 dB: fading on three channels. It is also the deviation of the level of an observer that does not hear a beacon.
  ///
  /// - Units: dB.
  package static let scatter = 4.0
  /// The least scatter that is learned.
  ///
  /// 1.5 dB: levels come in whole decibels from three channels.
  ///
  /// - Units: dB.
  package static let minimumScatter = 1.5
  /// The maximum number of adverts in one second that count as independent.
  ///
  /// 4: more adverts in one second see the same shadow.
  package static let independentSamples = 4.0
  // MARK: Silence

  /// The improbability of a silence above which the level of a live observer falls in the comparison.
  ///
  /// 3: one run of losses in twenty is longer.
  ///
  /// - Units: nats, less the logarithm of the chance.
  package static let silenceGrace = 3.0
  /// The rate at which the level falls beyond that.
  ///
  /// 1.5 dB: a lead of 10 dB is lost once the silence has a chance of one in 16 000.
  ///
  /// - Units: dB for each nat.
  package static let silentFall = 1.5
  /// The improbability of a silence above which an observer counts as no longer hearing a beacon.
  ///
  /// 16: one in nine million runs; the level of an observer that is 20 dB ahead has fallen behind by then.
  ///
  /// - Units: nats.
  package static let goneSurprise = 16.0
  /// The same where all of its observers are silent, whose chances multiply.
  ///
  /// 14: one in a million.
  ///
  /// - Units: nats.
  package static let silentSurprise = 14.0
  /// The shortest silence after which a level falls.
  ///
  /// 3 s: summaries come twice a second, and an observer's lag may change by a second or two.
  package static let shortestLevelGrace = TimeSpan.seconds(3)
  /// The shortest silence after which a level is forgotten.
  ///
  /// 10 s: a pocket or a lift door, not a departure.
  package static let shortestPresence = TimeSpan.seconds(10)
  /// The longest silence after which a level is forgotten.
  ///
  /// 300 s, the ceiling that presence has too.
  package static let maximumPresence = TimeSpan.seconds(300)
  /// The longest interval that is learned.
  package static let maximumInterval = TimeSpan.seconds(60)
  /// The rise of the level at a live observer beyond which the level of an observer that is down is assumed to have
  /// fallen by the excess.
  ///
  /// 6 dB: half of the distance between two rooms.
  ///
  /// - Units: dB.
  package static let approachBand = 6.0
  /// The rise of the level at a live observer, since another observer went down, from which on the beacon counts as
  /// moved.
  ///
  /// 12 dB: walking from the next room to right before a gateway gives 15 to 20 dB.
  ///
  /// - Units: dB.
  package static let releaseRise = 12.0

  // MARK: What is learned

  /// The variation of what observers hear from one to another, without the offsets that a site declares.
  ///
  /// 6 dB: 2 to 3 dB between gateways of one model, 10 dB and more between antennas in a box and on a pole.
  ///
  /// - Units: dB, one standard deviation.
  package static let offsetDeviation = 6.0
  /// The amount by which the ways to each other's zones may differ for two observers.
  ///
  /// 2 dB: antennas do not radiate alike in all directions.
  ///
  /// - Units: dB, one standard deviation.
  package static let geometryDeviation = 2.0
  /// The number of its own deviations from which on an offset is applied.
  ///
  /// 2: one in twenty would be so by chance.
  package static let offsetSignificance = 2.0
  /// The time in a zone after which the sample of a stay is taken.
  ///
  /// 30 s: the mean level is known to a fraction of a decibel then, and a beacon that only passes has gone on.
  package static let observationDelay = TimeSpan.seconds(30)

  // MARK: Fingerprints

  /// The number of looks from which on a zone is compared by its fingerprint.
  ///
  /// 1: every stay gives one, so that only age takes the last. What so few looks leave open, the predictive distribution has
  /// in its width.
  package static let fingerprintLooks = 1.0
  /// The number of looks as which the usual deviation of levels counts beside that of one zone at one observer.
  ///
  /// 8: the deviation of eight looks is itself known to a quarter. It is also the number of degrees of freedom, so that the
  /// tails stay heavy however many looks there are: a body takes 10 to 20 dB.
  package static let fingerprintPrior = 8.0
  /// The variation of a beacon's levels in all, against those of the beacons from which the fingerprints were learned.
  ///
  /// 6 dB, as ``offsetDeviation``: tags of one site have powers some decibels apart, and pockets take a few.
  ///
  /// - Units: dB, one standard deviation.
  package static let powerDeviation = 6.0
  /// The time in which half of a fingerprint's looks cease to count.
  ///
  /// 90 days: furniture, gateways and batteries change within a year.
  package static let fingerprintHalfLife = TimeSpan.minutes(90 * 24 * 60)

  /// Returns the number of independent looks at a beacon in a second.
  ///
  /// The level of a beacon that is carried wanders by ``wander`` in a second: it is another one once it has wandered as far as
  /// the places of a zone differ. That of a beacon that lies still changes with its deviations.
  ///
  /// - Parameters:
  ///   - carriage: The probability that the beacon is carried.
  ///   - deviationTime: The time in which deviations fade at the site, in seconds.
  /// - Returns: The number, in 1/s.
  package static func lookRate(carriage: Double, deviationTime: Double) -> Double {
    let carried = wander * wander / (placeDeviation * placeDeviation)
    return carriage * carried + (1 - carriage) / (2 * deviationTime)
  }
}
