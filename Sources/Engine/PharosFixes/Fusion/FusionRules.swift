package import PharosModel

/// The constants of fusion, by which readings, steps and walls change the belief about where a subject is.
///
/// Unless a comment says otherwise, a default was chosen on survey walks of two malls, by learning the map from four
/// fifths of them and locating the rest. Some were chosen on a second set of walks through the same malls, which that
/// map had not seen: ``maximumWorth``, ``halfWorth``, and of the map `SurveyRules.floorLoss` and the share from which a
/// walk counts as having heard the next floor. They fit those walks better than they will fit a third set.
package struct FusionRules: Hashable, Sendable {
  // What is asked for.

  /// The maximum number of particles, which are used where the subject may be anywhere.
  ///
  /// 400: with 1,000 and 2,000, held-back walks are placed no better, within chance (2 %).
  package var particles = 400
  /// The number of particles for each square of 3 m that the belief covers.
  ///
  /// 10: the value of the bound for an error of 0.05 where squares are many. Held-back walks then use 135 particles in
  /// the mean, and are placed as well as with a constant 400 (mean error 6.49 and 6.44 m, chance ±0.04).
  ///
  /// - Source: Fox, "Adapting the sample size in particle filters through KLD-sampling", Int. J. Robotics Research 22 (2003).
  package var particlesPerSquare = 10
  /// The minimum number of particles, if ``particles`` allows as many.
  ///
  /// 100: with 150, held-back walks are placed no better.
  package var minimumParticles = 100
  /// The time from one fix to the next.
  package var interval: TimeSpan = .seconds(1)
  /// The time for which all input is held back, so that late input is put in order.
  ///
  /// Half of the beacons that phones report are 0.4 s late against their motion sensors, 99 % at most 1 s.
  package var lag: TimeSpan = .seconds(1)
  /// The time for which fixes continue without any input.
  package var silence: TimeSpan = .seconds(30)

  // Readings.

  /// The degrees of freedom of Student's distribution, which models the scatter of readings.
  ///
  /// 10: bodies, doors and moved access points give outliers beyond a normal distribution; still fewer degrees leave a floor away
  /// from the right one too probable.
  package var tailFreedom: Float = 10
  /// The maximum number of independent readings that a scan is worth, two seconds after the last one: bodies and the
  /// place itself shift many of them together.
  ///
  /// 9: with 10 and 12, held-back walks are placed no better; with 7 their mean error was 2 % larger.
  package var maximumWorth: Float = 9
  /// The number of readings that give half of that.
  ///
  /// 3: a scan of a mall brings 30 to 130, so that it is worth nearly the most.
  package var halfWorth: Float = 3
  /// The common deviation of all readings of a look from the usual level: one standard deviation.
  ///
  /// - Units: dB. On walks through two malls the mean of a look's readings, of 3 s each, scatters by 3.1 dB about the
  ///   mean of its walk, relative to what other walks heard within 3 m. Successive looks are nearly independent
  ///   (correlation 0.09). With 2 and 4 dB held-back walks are placed no better.
  package var lookDeviation: Float = 3
  /// The maximum number of readings of a look that are weighed, the loudest and newest ones; more of a scan that follows
  /// the last one after more than two seconds.
  ///
  /// 40: twice as many, with 600 ``particles``, place held-back walks no better, within chance (2 %), for twice the
  /// time.
  package var maximumReadings = 40
  /// The exponent by which each radio of a box counts less the more of them are heard: 0 not at all, 1 as if all were
  /// one.
  ///
  /// 0.85: with 0.5 and 1 the mean error of walks held back was 1 and 5 % larger.
  package var groupShare: Float = 0.85
  /// The weight of each reading of a beacon: there are a few a second, and successive ones err together.
  package var beaconShare: Float = 0.5
  /// The logarithm of the ratio of the probabilities to hear a beacon at all where the map expects it and elsewhere.
  ///
  /// This evidence counts beside that of the level, and only as long as no access point was heard.
  ///
  /// - Units: natural logarithm. On held-back walks, beacons were heard in 4 to 10 % of all seconds within 18 m of
  /// where the survey heard them, and in 0.04 to 0.07 % elsewhere: 58 to 280 times as often, the louder the more. Once
  /// scans tell more, it makes fixes worse, because it counts against places that were merely not surveyed.
  package var beaconSurprise: Float = 4
  /// The maximum of that evidence for all beacons together, because those that hang side by side are heard together.
  ///
  /// - Units: natural logarithm. With 4 walks are placed as well.
  package var maximumBeaconSurprise: Float = 8
  /// The added uncertainty of a reading for each second of its age, where steps show how far the subject moved.
  ///
  /// - Units: dB/s.
  package var staleNoise: Float = 0.2
  /// The same where no motion is known: a walk of 1.3 m/s through fields that change by about 0.7 dB a metre.
  ///
  /// - Units: dB/s.
  package var staleNoiseBlind: Float = 0.9
  /// The time ahead of its timestamp at which an access point's level fits the map best.
  ///
  /// Timestamps are early, and the body attenuates what lies behind it, so levels match the place where the subject is
  /// about to be.
  package var scanLead: TimeSpan = .milliseconds(2_500)
  /// The same for beacons.
  package var beaconLead: TimeSpan = .milliseconds(2_000)
  /// The time after the first evidence during which the belief is drawn from scratch from all evidence with each look.
  ///
  /// Afterwards the particles carry the belief on. The first beacons leave a whole floor open, and few of the particles
  /// drawn then lie where the first scan points to.
  package var youth: TimeSpan = .seconds(4)
  /// The age up to which readings count when the belief is compared with all other places.
  package var memory: TimeSpan = .seconds(8)
  /// The oldest reading that is used.
  package var oldestReading: TimeSpan = .seconds(20)
  /// The assumed level of an emitter where the map does not expect it at all.
  ///
  /// - Units: dBm. Receivers hear down to about −95.
  package var unexpectedLevel: Float = -99
  /// The uncertainty of that level.
  ///
  /// - Units: dB.
  package var unexpectedDeviation: Float = 7
  /// The weight of what a scan does not list, relative to what it lists.
  ///
  /// 0.2: on held-back walks the mean error was 12 % smaller than without, and floors were right for 97.5 % of fixes
  /// instead of 94.5 %; 0.1 and 0.4 do nearly as well. Access points are missing for common reasons, as levels err
  /// together.
  package var unlistedShare: Float = 0.2
  /// The maximum probability that a scan lists an access point: some are off, and phones do not scan every channel.
  ///
  /// 0.6: 0.85 places walks as well, but relies more on a map that has aged.
  package var maximumListedShare: Float = 0.6
  /// The level at which that probability is half of its maximum.
  ///
  /// - Units: dBm. −75 and −70 place walks equally well, −60 worse.
  package var listedLevel: Float = -75
  /// The scale of the fall of that probability with the level.
  ///
  /// - Units: dB. Most of the step lies within ±8 dB, which is how far readings scatter at a place; others were not tried.
  package var listedSlope: Float = 4
  /// The time for which an access point counts as listed after it was heard: scans do not renew all entries at once.
  ///
  /// 12 s: half of a scan's entries were heard 3.5 s before it, nine in ten at most 21 s before; others were not tried.
  package var listedMemory: TimeSpan = .seconds(12)
  /// The minimum number of new access points that makes a look a scan, in which something can be missing.
  ///
  /// 8: scans of the surveyed malls bring 30 to 130; handsets that report a few chosen ones stay below.
  package var minimumListed = 8
  /// The deviation of receivers: one standard deviation of a handset's common offset.
  ///
  /// - Units: dB.
  package var receiverDeviation: Float = 2.6
  /// The deviation of the levels of tags, which is left open in every look: of what they send, and of how they are worn.
  ///
  /// - Units: dB.
  package var senderDeviation: Float = 6

  // Motion.

  /// The deviation of headings from north for a whole walk: one standard deviation.
  ///
  /// - Units: radians. Phones held flat in two malls: 10° to 13°.
  package var headingBias: Float = 0.17
  /// The change of a heading's bias with each step.
  ///
  /// - Units: radians.
  package var biasWander: Float = 0.012
  /// The noise of each step's direction where no sensor gives one.
  ///
  /// - Units: radians.
  package var courseNoise: Float = 0.4
  /// The deviation of the mean length of a person's steps: one standard deviation, as a share.
  package var scaleDeviation: Float = 0.12
  /// The distance that a subject moves in a second, while no motion is reported.
  ///
  /// 2 m/√s: a walker at 1.4 m/s keeps the direction for some seconds.
  ///
  /// - Units: m/√s.
  package var blindWalk: Float = 2
  /// The spread of the belief in a second, whatever the sensors report.
  ///
  /// - Units: m/√s.
  package var drift: Float = 0.25
  /// The time for which motion may be silent before the motion sensors count as silent.
  package var motionSilence: TimeSpan = .seconds(3)

  // Odometry.

  /// The deviation of the scale of a session of visual odometry: one standard deviation, as a share.
  package var odometryScale: Float = 0.02
  /// The steady change of the direction of the odometry's frame with the way: one standard deviation.
  ///
  /// - Units: radians/m. After 150 m it amounts to a place 3 m to the side, 2 % of the way.
  package var odometryBend: Float = 0.000_27
  /// The random change of the direction of the odometry's frame with the way.
  ///
  /// - Units: radians/√m. After 150 m it amounts to a place 1 m to the side.
  package var odometryWander: Float = 0.001
  /// The scatter of the odometry with the way.
  ///
  /// - Units: √m.
  package var odometryNoise: Float = 0.02
  /// The spread of the belief in a second while odometry moves it.
  ///
  /// - Units: m/√s.
  package var odometryDrift: Float = 0.03
  /// The minimum number of particles while odometry moves them: they carry its drift along.
  package var minimumWithOdometry = 200
  /// The part of the error that the spread never shows, where scans and odometry determine the place.
  ///
  /// - Units: metres.
  package var visualHiddenError: Float = 0.3

  // Places.

  /// The cost of a step into what is not walkable: people sometimes enter shops that the plan closes.
  ///
  /// - Units: nats a step.
  package var obstacleCost: Float = 3
  /// The cost of each further step there.
  ///
  /// - Units: nats a step.
  package var insideCost: Float = 1
  /// The cost of a step through a wall.
  ///
  /// - Units: nats.
  package var wallCost: Float = 4
  /// The reduction of the initial log-probability of a place that is not walkable.
  ///
  /// - Units: nats.
  package var closedPrior: Float = 4

  // Floors.

  /// The distance from stairs, lifts and escalators within which a subject can change floors.
  ///
  /// - Units: metres.
  package var connectorReach: Float = 5
  /// The rate at which a subject near a connector takes it.
  ///
  /// - Units: 1/s.
  package var connectorRate: Float = 0.08
  /// The rate at which a subject changes floors anywhere in a venue without connectors, so that a wrong floor is
  /// corrected.
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

  /// The interval between comparisons of the belief with all other places.
  ///
  /// 12 s: with 6 and 8 s, held-back walks are placed no better, and one comparison costs as much as a fix.
  package var auditInterval: TimeSpan = .seconds(12)
  /// The margin in nats by which the best place elsewhere must explain a look better before some of the belief moves
  /// there.
  package var lostMargin: Float = 6
  /// The share of particles that moves at that margin; it grows in proportion to the margin.
  package var recoveryShare: Float = 0.2

  // Accuracy.

  /// The factor from the spread of the particles to the radius that holds 68 % of truths.
  ///
  /// This and the next three were fitted together to held-back walks, for 70 % of truths within the radius and as many
  /// as possible within twice it (92 %; 87 % before misfit and remoteness counted), and then set halfway between two
  /// such fits that held 69 % and 76 % of the second set.
  package var spreadFactor: Float = 1.45
  /// The part of the error that the spread never shows: taps, bodies, the map's cells.
  ///
  /// - Units: metres.
  package var hiddenError: Float = 2.25
  /// The same for a handset without motion sensors; for a tag there is none.
  ///
  /// Their spread counts as it is, because most of it is the unseen walk.
  ///
  /// - Units: metres.
  package var blindHiddenError: Float = 1.25
  /// The increase of that for each metre from the nearest surveyed place.
  ///
  /// - Units: metres a metre.
  package var remoteError: Float = 0.7
  /// The increase of that for each unit of the readings' mean square misfit beyond the usual.
  ///
  /// - Units: metres. Where the misfit is 1.5, twice as many truths lie beyond the radius as where it is 0.7.
  package var misfitError: Float = 13
  /// The largest radius of a fix: beyond it, nothing is known but the venue.
  ///
  /// - Units: metres.
  package var vaguest: Float = 130

  // Outside.

  /// The distance of a location from outside beside a building, in units of its accuracy, that counts as evidence that
  /// the subject is not in it.
  package var outsideMargin: Float = 1
  /// The distance from a building up to which its particles are still moved.
  ///
  /// - Units: metres.
  package var vicinity: Float = 200

  /// Creates the rules with their defaults.
  package init() {}
}
