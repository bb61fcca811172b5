import PharosFaults
import Testing

/// A seed that once found something.
struct FailedSeed: CustomTestStringConvertible {
  let seed: UInt64
  /// What it found.
  let found: String
  /// The generation of the generator that found it.
  var generation = PlanGeneration.first

  var testDescription: String { "\(seed): \(found)" }

  /// All of them; the fix of a fault that a seed found adds the seed here.
  static let all: [FailedSeed] = [
    FailedSeed(
      seed: 18,
      found: "an observer's outage had the id of one before the restart: the wall clock was set back"
    ),
    FailedSeed(
      seed: 27,
      found: "steps of the clock had the ids of others: two starts from one checkpoint began at one R"
    ),
    FailedSeed(
      seed: 50,
      found: "an observer's restart was published twice under one id: counters began at the last event"
    ),
    FailedSeed(
      seed: 116,
      found: "an exit lay 50 minutes ahead: its event had been timed by a clock that was set since"
    ),
    FailedSeed(seed: 263, found: "an enter lay an hour ahead, for the same reason"),
    FailedSeed(
      seed: 270,
      found: "a beacon stayed inside forever: a restart ended its presence by an event of another region"
    ),
    FailedSeed(
      seed: 300,
      found: "an observer out over a restart proved its life with its first word, and its beacon left"
    ),
    FailedSeed(
      seed: 1036,
      found: "subscribers received what a power loss then erased: an unsynced commit was read back"
    ),
    FailedSeed(seed: 1162, found: "a beacon stayed inside forever, as in seed 270, after 26 restarts"),
    FailedSeed(
      seed: 1217,
      found: "an event decided at the instant of a step of the clock was published with the time before it"
    ),
    FailedSeed(
      seed: 1239,
      found: "beacons stayed unmonitored forever: a restart took their presences for published"
    ),
    FailedSeed(seed: 1249, found: "an exit behind a restart, as in seed 300"),
    FailedSeed(seed: 1364, found: "published events were lost with the power, as in seed 1036"),
    FailedSeed(
      seed: 1385,
      found: "a new observer's network was gone for half a minute, and what came first proved its life"
    ),
    FailedSeed(
      seed: 1670,
      found: "the numbers that a new observer had lost did not count, as they were more than had come"
    ),
    FailedSeed(seed: 1767, found: "beacons stayed unmonitored forever, as in seed 1239"),
    FailedSeed(
      seed: 2657,
      found:
        "a datagram that came twice was two samples of its beacon, which seemed quick and was missed soon"
    ),
    FailedSeed(
      seed: 4066,
      found: "a beacon stayed inside forever: an event made a checkpoint's assumption endless"
    ),
    FailedSeed(
      seed: 5625,
      found: "no bug: a beacon left a second before the end of a cut, all of which says as little of it"
    ),
    FailedSeed(
      seed: 5668,
      found: "an outage went by unseen: it was watched by what was allowed before gaps were learned"
    ),
    FailedSeed(
      seed: 7187,
      found: "no bug: of a beacon that changed stations one advert had come, and it takes two to enter"
    ),
    FailedSeed(
      seed: 7841,
      found: "no bug: a beacon left in a cut, and raddecs that were heard in it are not sent later"
    ),
    FailedSeed(
      seed: 8282,
      found: "what was heard before a restart and came behind it was an enter at the restart, not before"
    ),
    FailedSeed(
      seed: 31_001_990,
      found: "no bug: a flood came from an observer whose network was gone, before its backlog"
    ),
    FailedSeed(seed: 31_004_303, found: "no bug: a flood overtook a backlog, as in seed 31001990"),
    FailedSeed(
      seed: 31_006_826,
      found: "adverts that were read together were one sample: each was earlier than the one before"
    ),
    FailedSeed(
      seed: 31_007_426,
      found: "an enter was 3 s early: the clock of a raddec sender was compared with R of the run before"
    ),
    FailedSeed(seed: 31_007_552, found: "an enter was early, as in seed 31007426"),
    FailedSeed(
      seed: 31_013_170,
      found: "an exit did not wait for witnesses: a doubt from an earlier cut counted as the wait"
    ),
    FailedSeed(
      seed: 31_016_404,
      found: "of two observers that were read together, the live one had heard it half a second later"
    ),
    FailedSeed(seed: 31_016_522, found: "an enter was early, as in seed 31007426"),
    FailedSeed(
      seed: 47_002_457,
      found: "no bug: an observer whose clock was set back gave the adverts of its backlog no age"
    ),
    FailedSeed(
      seed: 47_004_473,
      found: "a cut right behind a restart was no hole: no transmitter had been heard long enough"
    ),
    FailedSeed(seed: 83_001_060, found: "a cut right behind a restart was no hole, as in seed 47004473"),
    FailedSeed(seed: 47_008_993, found: "no bug: ages of a backlog were too small, as in seed 47002457"),
    FailedSeed(
      seed: 47_009_003,
      found: "the first advert behind a cut of seven seconds counted as a radio that hears as usual"
    ),
    FailedSeed(
      seed: 900_019_782,
      found:
        "datagrams that the network repeated 16 ms later taught an interval of which no beacon is capable"
    ),
    FailedSeed(seed: 900_050_709, found: "repeated datagrams taught an interval, as in seed 900019782"),
    FailedSeed(
      seed: 900_062_947,
      found:
        "what a gateway that came back had heard before counted for nothing, and its beacon left another one"
    ),
    FailedSeed(seed: 900_068_315, found: "late adverts counted for nothing, as in seed 900062947"),
    FailedSeed(
      seed: 31_338_306,
      found: "no bug: the last that could be known of a beacon was a reflection elsewhere",
      generation: .second
    ),
    FailedSeed(
      seed: 820_000_211,
      found: "an observer whose beacon was erased stayed unmonitored forever",
      generation: .second
    ),
    FailedSeed(
      seed: 820_001_524,
      found: "no bug: reflections at two gateways with one identity were a presence",
      generation: .second
    ),
    FailedSeed(
      seed: 820_003_395,
      found:
        "an outage counted as hearing: a gateway that had long lost a beacon ended its stay at a dead one",
      generation: .second
    ),
    FailedSeed(
      seed: 830_001_366,
      found: "a late advert to an observer that was down began a row with a state that was never published",
      generation: .second
    ),
    FailedSeed(
      seed: 830_004_001,
      found:
        "an event had the id of another run's: a start without the checkpoint began at one R with one that had it",
      generation: .second
    ),
    FailedSeed(seed: 850_007_354, found: "an id was used twice, as in seed 830004001", generation: .second),
    FailedSeed(
      seed: 840_002_145,
      found:
        "a tag at rest stayed outside a region of levels: its window to enter was of its interval in motion",
      generation: .second
    ),
    FailedSeed(
      seed: 850_004_848,
      found: "no bug: a slow tag had changed gateways, and few adverts in delayed datagrams do not enter",
      generation: .second
    ),
    FailedSeed(
      seed: 850_008_497,
      found: "no bug: a slow tag had changed gateways, as in seed 850004848",
      generation: .second
    ),
    FailedSeed(
      seed: 860_000_908,
      found: "no bug: a slow tag had changed gateways, as in seed 850004848",
      generation: .second
    ),
    FailedSeed(
      seed: 850_009_229,
      found: "no bug: the network repeated a reflection in a format without sequence numbers",
      generation: .second
    ),
    FailedSeed(
      seed: 860_101_046,
      found: "no bug: a reflection was repeated, as in seed 850009229",
      generation: .second
    ),
    FailedSeed(
      seed: 840_004_182,
      found: "no bug: of two gateways with one identity one had a clock that was minutes ahead",
      generation: .second
    ),
    FailedSeed(
      seed: 140_502_923_462_383,
      found: "no bug: the level was low for the dwell, and a beacon that came closer in a cut was not heard",
      generation: .second
    ),
    FailedSeed(
      seed: 860_101_039,
      found: "no bug: the level was low for the dwell, as in seed 140502923462383",
      generation: .second
    ),
    FailedSeed(
      seed: 870_000_179,
      found: "no bug: a flood had filled the table of the station to which a beacon had moved",
      generation: .second
    ),
    FailedSeed(
      seed: 880_000_223,
      found: "a broker retained the state of a region that was removed before its event was published",
      generation: .third
    ),
    FailedSeed(
      seed: 880_000_146,
      found: "a broker retained states of removed regions, as in seed 880000223",
      generation: .third
    ),
    FailedSeed(
      seed: 910_015_063,
      found:
        "a region had come back to a checkpoint's definition, and was asked about in another way meanwhile",
      generation: .third
    ),
    FailedSeed(
      seed: 920_000_147,
      found: "a reflection at an observer that was back let a beacon enter that had long left",
      generation: .third
    ),
    FailedSeed(
      seed: 910_006_612,
      found:
        "no bug: the last that could be known of a beacon was a reflection elsewhere, minutes before its exit",
      generation: .third
    ),
  ]
}

/// A seed that finds a bug that is put in.
struct FoundPlant: CustomTestStringConvertible {
  let plant: Plant
  let seed: UInt64
  /// The rule that it breaks.
  let rule: Violation.Rule
  /// The generation of the generator.
  var generation = PlanGeneration.first

  var testDescription: String { "\(plant.rawValue) with seed \(seed)" }

  /// One for each bug that is known to be found: the first that finds it.
  static let all: [FoundPlant] = [
    FoundPlant(plant: .exitsWithoutProofOfLife, seed: 5, rule: .exit),
    FoundPlant(plant: .checkpointWithoutEvents, seed: 1, rule: .ids),
    FoundPlant(plant: .downtimeIsSilence, seed: 1, rule: .ids),
    FoundPlant(plant: .resumeRepeats, seed: 0, rule: .subscriber),
    FoundPlant(plant: .resumeSkips, seed: 0, rule: .subscriber),
    FoundPlant(plant: .liesAboutCommits, seed: 3, rule: .order),
    FoundPlant(plant: .refusedGroupDropped, seed: 21, rule: .quiet),
    FoundPlant(plant: .forgetsReplayWindows, seed: 28, rule: .replay, generation: .third),
    FoundPlant(plant: .savesCursorOfSent, seed: 7, rule: .receiver, generation: .third),
    FoundPlant(plant: .webhookWithoutGate, seed: 124, rule: .leak, generation: .third),
    FoundPlant(plant: .brokerKeepsHidden, seed: 31, rule: .leak, generation: .third),
    FoundPlant(plant: .answersWithoutDeciding, seed: 4, rule: .leak, generation: .third),
    FoundPlant(plant: .readsFormerStates, seed: 0, rule: .start, generation: .third),
    FoundPlant(plant: .ignoresPublishedStates, seed: 0, rule: .order, generation: .third),
    FoundPlant(plant: .readsWrongLevel, seed: 11, rule: .quiet, generation: .third),
    FoundPlant(plant: .erasesNothing, seed: 5, rule: .leak, generation: .third),
    FoundPlant(plant: .streamsOutliveTokens, seed: 0, rule: .leak, generation: .fourth),
  ]
}
