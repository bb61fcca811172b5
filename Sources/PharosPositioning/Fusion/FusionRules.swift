package import PharosReports

/// The constants of fusion, by which readings, steps and walls change the belief about where a subject is.
///
/// Unless a comment says otherwise, a default was chosen on survey walks of two malls, by learning the map from four
/// fifths of them and locating the rest. Some were chosen on a second set of walks through the same malls, which that
/// map had not seen: ``mostWorth``, ``halfWorth``, and of the map ``SurveyRules/floorLoss`` and the share from which a
/// walk counts as having heard the next floor. They fit those walks better than they will fit a third set.
package struct FusionRules: Hashable, Sendable {
  // What is asked for.

  /// How many places a subject is believed to be at most, each a particle: so many where it may be anywhere.
  ///
  /// 400: 1,000 and 2,000 place walks held back no better than chance makes of it (2 %).
  package var particles = 400
  /// How many of them there are for each square of 3 m that the belief covers.
  ///
  /// 10: what the bound comes to for an error of 0.05 where squares are many. Walks held back are then carried by 135 in the
  /// mean, and placed as by 400 always (mean error 6.49 and 6.44 m, chance ±0.04).
  ///
  /// - Source: Fox, "Adapting the sample size in particle filters through KLD-sampling", Int. J. Robotics Research 22 (2003).
  package var particlesPerSquare = 10
  /// How many there are at least, if ``particles`` allows as many.
  ///
  /// 100: 150 place walks held back no better.
  package var fewestParticles = 100
  /// The time from one fix to the next.
  package var interval: TimeSpan = .seconds(1)
  /// How long everything is held back, so that what comes late is put in its place.
  ///
  /// Half of the beacons that phones report are 0.4 s late against their motion sensors, 99 % at most 1 s.
  package var lag: TimeSpan = .seconds(1)
  /// How long fixes go on without any input.
  package var silence: TimeSpan = .seconds(30)

  // Readings.

  /// The degrees of freedom of Student's distribution that readings scatter in.
  ///
  /// 10: bodies, doors and moved access points give outliers beyond a normal distribution; still fewer degrees leave a floor away
  /// from the right one too probable.
  package var tailFreedom: Float = 10
  /// How many independent readings a scan can be worth at most: bodies and the place itself shift many of them together.
  ///
  /// 9: with 10 and 12 walks held back are placed no better, with 7 their mean error was 2 % larger.
  package var mostWorth: Float = 9
  /// How many readings it takes for half of that.
  ///
  /// 3: a scan of a mall brings 30 to 130, so that it is worth nearly the most.
  package var halfWorth: Float = 3
  /// How much louder or fainter than usual all readings of a look are heard together: one standard deviation.
  ///
  /// - Units: dB. On walks through two malls the mean of a look's readings, of 3 s each, scatters by 3.1 dB about the mean of its walk, beside
  /// what other walks heard within 3 m; one look says next to nothing of the following one's (correlation 0.09). With 2 and 4 dB
  /// walks held back are placed no better.
  package var lookDeviation: Float = 3
  /// How many readings of a look are weighed, the loudest and newest ones.
  ///
  /// 40: twice as many, with 600 ``particles``, place walks held back no better than chance makes of it (2 %), for twice the time.
  package var mostReadings = 40
  /// How much less each radio of a box counts the more of them are heard: 0 not at all, 1 as if all were one.
  ///
  /// 0.85: with 0.5 and 1 the mean error of walks held back was 1 and 5 % larger.
  package var groupShare: Float = 0.85
  /// The share that each reading of a beacon counts: a few a second, of which neighbours in time err together.
  package var beaconShare: Float = 0.5
  /// The logarithm of how much more probable it is to hear a beacon at all where the map expects it than elsewhere.
  ///
  /// This evidence counts beside that of the level, and only as long as no access point was heard.
  ///
  /// - Units: natural logarithm. On held-back walks, beacons were heard in 4 to 10 % of all seconds within 18 m of
  /// where the survey heard them, and in 0.04 to 0.07 % elsewhere: 58 to 280 times as often, the louder the more. Once
  /// scans tell more, it makes fixes worse, because it counts against places that were merely not surveyed.
  package var beaconSurprise: Float = 4
  /// How much that says at most of all beacons together, since those that hang side by side are heard together.
  ///
  /// - Units: natural logarithm. With 4 walks are placed as well.
  package var mostBeaconSurprise: Float = 8
  /// How much less certain a reading is for each second of its age, where steps tell how far it was carried.
  ///
  /// - Units: dB/s.
  package var staleNoise: Float = 0.2
  /// The same where no motion is known: a walk of 1.3 m/s through fields that change by about 0.7 dB a metre.
  ///
  /// - Units: dB/s.
  package var staleNoiseBlind: Float = 0.9
  /// How far ahead of its stamp an access point's level fits the map best.
  ///
  /// Stamps are early, and the body takes from what lies behind it: levels tell of where one is about to be.
  package var scanLead: TimeSpan = .milliseconds(2_500)
  /// The same for beacons.
  package var beaconLead: TimeSpan = .milliseconds(2_000)
  /// The time after the first evidence during which the belief is drawn from scratch from all evidence with each look.
  ///
  /// Afterwards the particles carry the belief on. The first beacons leave a whole floor open, and few of the particles
  /// drawn then lie where the first scan points to.
  package var youth: TimeSpan = .seconds(4)
  /// How far back readings count when the belief is compared with all other places.
  package var memory: TimeSpan = .seconds(8)
  /// The oldest reading that is used.
  package var oldestReading: TimeSpan = .seconds(20)
  /// The level taken for an emitter where the map does not expect it at all.
  ///
  /// - Units: dBm. Receivers hear down to about −95.
  package var unexpectedLevel: Float = -99
  /// How far that may be off.
  ///
  /// - Units: dB.
  package var unexpectedDeviation: Float = 7
  /// How much what a scan does not list counts, beside what it does list.
  ///
  /// 0.2: on walks held back from the survey the mean error was 12 % smaller than without, and floors were right for 97.5 % of fixes
  /// instead of 94.5 %; 0.1 and 0.4 do nearly as well. Access points are missing for common reasons, as levels err together.
  package var unlistedShare: Float = 0.2
  /// How probable it is at most that a scan lists an access point: some are off, and phones do not look at every channel.
  ///
  /// 0.6: 0.85 places walks as well, and believes more in a map that has aged.
  package var listedMost: Float = 0.6
  /// The level at which it is half as probable.
  ///
  /// - Units: dBm. −75 and −70 place walks equally well, −60 worse.
  package var listedLevel: Float = -75
  /// How fast that falls with the level.
  ///
  /// - Units: dB. Most of the step lies within ±8 dB, which is how far readings scatter at a place; others were not tried.
  package var listedSlope: Float = 4
  /// How long an access point counts as listed after it was heard: scans take turns in what they renew.
  ///
  /// 12 s: half of a scan's entries were heard 3.5 s before it, nine in ten at most 21 s before; others were not tried.
  package var listedMemory: TimeSpan = .seconds(12)
  /// How many new access points make a look a scan, of which something can be missing.
  ///
  /// 8: scans of the surveyed malls bring 30 to 130; handsets that tell a few chosen ones stay below.
  package var fewestListed = 8
  /// How differently receivers hear: one standard deviation of a handset's common offset.
  ///
  /// - Units: dB.
  package var receiverDeviation: Float = 2.6
  /// How differently tags send.
  ///
  /// - Units: dB.
  package var senderDeviation: Float = 6

  // Motion.

  /// How far headings from north are off for a whole walk: one standard deviation.
  ///
  /// - Units: radians. Phones held flat in two malls: 10° to 13°.
  package var headingBias: Float = 0.17
  /// How much a heading's bias wanders with each step.
  ///
  /// - Units: radians.
  package var biasWander: Float = 0.012
  /// The noise of each step's direction where no sensor tells any.
  ///
  /// - Units: radians.
  package var courseNoise: Float = 0.4
  /// How much the mean length of a person's steps differs: one standard deviation, as a share.
  package var scaleDeviation: Float = 0.12
  /// The distance that a subject moves in a second, while no motion is reported.
  ///
  /// 2 m/√s: a walker at 1.4 m/s keeps the direction for some seconds.
  ///
  /// - Units: m/√s.
  package var blindWalk: Float = 2
  /// How far the belief spreads in a second whatever the sensors say.
  ///
  /// - Units: m/√s.
  package var drift: Float = 0.25
  /// How long motion may be silent before the subject counts as unseen by its motion sensors.
  package var motionSilence: TimeSpan = .seconds(3)

  // Places.

  /// What a step into what is not walkable costs: shops that the plan closes are entered now and then.
  ///
  /// - Units: nats a step.
  package var obstacleCost: Float = 3
  /// What each further step there costs.
  ///
  /// - Units: nats a step.
  package var insideCost: Float = 1
  /// What a step through a wall costs.
  ///
  /// - Units: nats.
  package var wallCost: Float = 4
  /// The reduction of the initial log-probability of a place that is not walkable.
  ///
  /// - Units: nats.
  package var closedPrior: Float = 4

  // Floors.

  /// How near one has to be to stairs, lifts and escalators to change floors.
  ///
  /// - Units: metres.
  package var connectorReach: Float = 5
  /// How often a subject near a connector takes it.
  ///
  /// - Units: 1/s.
  package var connectorRate: Float = 0.08
  /// How often a subject changes floors anywhere in a venue that knows no connectors, so that a wrong floor heals.
  ///
  /// - Units: 1/s.
  package var leakRate: Float = 0.002
  /// The height of a storey.
  ///
  /// - Units: metres. Houses have 3, malls 4 to 6.
  package var storey: Float = 4.5

  /// The factor by which another floor must be more probable than the floor of the last fix for a fix to change floors.
  ///
  /// 2: fixes do not alternate between two floors that are about as probable, and the floors of 0.1 to 0.3 % more fixes
  /// are right; 4 does no better.
  package var floorMargin: Float = 2

  // Recovery.

  /// How often the belief is compared with all other places.
  ///
  /// 12 s: 6 and 8 s place walks held back no better, and one comparison costs as much as a fix.
  package var auditInterval: TimeSpan = .seconds(12)
  /// How much better the best place elsewhere must explain a look, in nats, before some of the belief moves there.
  package var lostMargin: Float = 6
  /// The share of particles that move then.
  package var recoveryShare: Float = 0.2

  // Accuracy.

  /// What the spread of the particles is multiplied by to give the radius that holds 68 % of truths.
  ///
  /// This and the next three were fitted together to walks held back from the survey, for 70 % of truths within the radius and as
  /// many as possible within twice it (92 %; 87 % before misfit and remoteness counted), and then set halfway between two such fits
  /// that held 69 % and 76 % of the second set.
  package var spreadFactor: Float = 1.45
  /// The part of the error that the spread never shows: taps, bodies, the map's cells.
  ///
  /// - Units: metres.
  package var hiddenError: Float = 2.25
  /// How much each metre from the nearest surveyed place adds to that.
  ///
  /// - Units: metres a metre.
  package var remoteError: Float = 0.7
  /// How much it adds that readings fit badly, for each unit of their mean square beyond the usual.
  ///
  /// - Units: metres. Where the misfit is 1.5 twice as many truths lie beyond the radius as where it is 0.7.
  package var misfitError: Float = 13
  /// The largest radius that is worth telling: beyond, nothing is known but the venue.
  ///
  /// - Units: metres.
  package var vaguest: Float = 130

  // Outside.

  /// How many times its accuracy a location from outside must lie beside a building to say that the subject is not in it.
  package var outsideMargin: Float = 1
  /// How far from a building its particles are still moved.
  ///
  /// - Units: metres.
  package var vicinity: Float = 200

  /// The rules as they are described.
  package init() {}
}
