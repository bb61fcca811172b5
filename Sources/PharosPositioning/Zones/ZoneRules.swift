package import PharosModel

/// The constants of the zone decision; the article <doc:WhichRoom> explains how they work together.
package enum ZoneRules {
  // MARK: What levels say about zones

  /// The amount by which the observers of the right zone hear a beacon louder than those of the next one, where
  /// nothing is known about the two.
  ///
  /// 8 dB: half the distance of a room (6 dB) and a light wall between (2 to 4 dB).
  ///
  /// - Units: dB.
  package static let separation = 8.0
  /// The variation of that lead between the places within a zone.
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
  /// 0.25: a beacon before one of two gateways is in the zone though the other is far away.
  package static let secondWeight = 0.25
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
  package static let longestEvidence = TimeSpan.seconds(4)

  /// The interval between two looks at a beacon's levels.
  ///
  /// Every half second: summaries come once a second from each observer, each at its own phase.
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

  /// The probability from which on a beacon is in a zone.
  ///
  /// 0.9: a moving beacon reaches this once the new zone's observers have been 3 to 4 dB ahead for a few seconds.
  package static let certainty = 0.9
  /// The amount by which its observers must then hear the beacon louder than those of any other zone of the floor.
  ///
  /// 0.5 dB: where two observers hear a beacon alike for long, probability alone would choose one of them in the end.
  ///
  /// - Units: dB.
  package static let margin = 0.5
  /// The least ratio of that lead to its standard deviation, which comprises the uncertainty of the two levels and how
  /// far they wander.
  ///
  /// 1.5: chance alone gives such a lead once in fifteen times, and the probability is required as well. A beacon near
  /// the border of two zones is therefore reported a little later.
  package static let leadDeviations = 1.5
  /// The minimum number of adverts, for each observer that hears the beacon, for a change of zones while the beacon
  /// moves.
  ///
  /// 3: one or two reflected adverts are no movement; a beacon that advertises four times a second sends three within
  /// one.
  package static let witnesses = 3.0
  /// The amount by which the levels of a beacon that was carried through a door differ from those of the last minute.
  ///
  /// 4 dB: three metres of movement change several levels by more. People and doors hardly change a mean.
  ///
  /// - Units: dB, root mean square over its observers.
  package static let clearWay = 4.0
  /// The additional lead that is required for each dB by which they differ less.
  ///
  /// 2: a beacon that has lain for ``settlingTime`` and whose levels have hardly changed has hardly moved.
  package static let reluctance = 2.0
  /// The time over which those means are taken.
  package static let homeMemory = TimeSpan.seconds(60)
  /// The time for which both conditions must hold.
  ///
  /// 500 ms: the probability already builds up over seconds, so this only requires a second look.
  package static let dwell = TimeSpan.milliseconds(500)
  /// The value of ``dwell`` where no door is known between the two zones.
  ///
  /// 10 s: a person cannot walk through a wall, but a list of neighbours may lack a door. So such a change is slow, not
  /// impossible.
  package static let strayDwell = TimeSpan.seconds(10)
  /// The same where no stairs are known between their floors.
  ///
  /// 15 s: as long as a lift takes.
  package static let climbDwell = TimeSpan.seconds(15)
  /// The probability below which the zone that a beacon is in is doubted.
  ///
  /// 0.1: far below a half, so that a beacon between two zones stays where it was.
  package static let doubt = 0.1
  /// The time for which the zone must be doubted, while no other zone is certain, before a beacon is in none.
  ///
  /// 15 s: enough time for a new zone that is merely slow to become certain.
  package static let notSureDwell = TimeSpan.seconds(15)

  // MARK: Levels

  /// The change of a level in a second.
  ///
  /// 3 dB: what walking towards a gateway does to it.
  ///
  /// - Units: dB.
  package static let wander = 3.0
  /// The initial scatter of single adverts around the level.
  ///
  /// Learned values lie between ``leastScatter`` and twice this value.
  ///
  /// 4 dB: fading on three channels.
  ///
  /// - Units: dB.
  package static let scatter = 4.0
  /// The least scatter that is learned.
  ///
  /// 1.5 dB: levels come in whole decibels from three channels.
  ///
  /// - Units: dB.
  package static let leastScatter = 1.5
  /// The maximum number of adverts in one second that count as independent.
  ///
  /// 4: more adverts in one second see the same shadow.
  package static let independentSamples = 4.0
  /// The time over which a mean is taken while a beacon lies still.
  package static let stillMemory = TimeSpan.seconds(30)
  /// The same while it moves.
  ///
  /// 1.5 s: what a walker's level has been for the last two metres.
  package static let movingMemory = TimeSpan.seconds(1.5)
  /// The amount by which the current level may differ from the mean while a beacon lies still.
  ///
  /// 3.5 dB at least: less than half a room.
  ///
  /// - Units: dB.
  package static let quietBand = 3.5
  /// The same in standard deviations of the two.
  ///
  /// 3: once in six minutes by chance.
  package static let quietDeviations = 3.0
  /// The least that a level is taken to wander around its mean while a beacon lies still.
  ///
  /// - Units: dB.
  package static let leastUnrest = 0.2
  /// The most that is learned of it.
  ///
  /// 4 dB: what lies beyond is a beacon that does not lie still.
  ///
  /// - Units: dB.
  package static let mostUnrest = 4.0
  /// The time that a beacon must have been in its zone before its unrest is learned and ``reluctance`` applies.
  ///
  /// 120 s: a beacon that is carried about every minute or two changes its level by its own movement.
  package static let settlingTime = TimeSpan.seconds(120)
  /// The time over which it is learned.
  package static let unrestMemory = TimeSpan.seconds(120)
  /// The share of the largest departure from the mean that another observer's departure must reach to count as one.
  ///
  /// 0.25: a movement that takes 20 dB from one observer's level changes that of another by 5 dB at least.
  package static let companionShare = 0.25
  /// The time for which a single observer may hear a beacon weaker, while all others hear it as before, until that
  /// counts.
  ///
  /// 12 s: a tag that moves changes its level at two observers at least, a body in the way at one, and few stand
  /// there for longer.
  package static let shadowPatience = TimeSpan.seconds(12)

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
  /// 3 s: summaries come once a second, and an observer's lag may change by a second or two.
  package static let shortestLevelGrace = TimeSpan.seconds(3)
  /// The shortest silence after which a level is forgotten.
  ///
  /// 10 s: a pocket or a lift door, not a departure.
  package static let shortestPresence = TimeSpan.seconds(10)
  /// The longest silence after which a level is forgotten.
  ///
  /// 300 s, the ceiling that presence has too.
  package static let longestPresence = TimeSpan.seconds(300)
  /// The longest interval that is learned.
  package static let longestInterval = TimeSpan.seconds(60)
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
  /// The time in a zone after which the lesson of a stay is taken.
  ///
  /// 30 s: the mean level is known to a fraction of a decibel then, and a beacon that only passes has gone on.
  package static let lessonDelay = TimeSpan.seconds(30)
}
