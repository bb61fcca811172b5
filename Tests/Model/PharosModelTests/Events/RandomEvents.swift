import PharosModel
import PharosTestSupport

/// Events of every kind with everything in them that a type allows, likely or not.
struct RandomEvents {
  private var random: SeededGenerator

  /// The kinds and the number of sorts of details that are drawn.
  private let kinds: [EventKind]
  private let details: Int

  /// Draws all kinds, or only those whose bytes are pinned.
  init(seed: UInt64, onlyPinned: Bool = false) {
    random = SeededGenerator(seed: seed)
    kinds = EventKind.allCases.filter { !onlyPinned || $0.rawValue <= EventKind.observerQuarantined.rawValue }
    details = onlyPinned ? 16 : 23
  }

  private static let texts = [
    "", "gallery", "entrance hall", "caf\u{E9}", "cafe\u{301}", "\u{212A}", "K", "\"quoted\\\"",
    "line\nbreak\u{1}\u{7F}",
    "🧭", "a", String(repeating: "x", count: 64),
  ]

  private static let numbers: [Double] = [
    0, -0.0, 1, -1, 0.5, -73.125, 0.005, 0.0049999, 1e-13, 1e15, -1e15, 9.007_199_254_740_993e15, 1e300, .nan,
    .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, 1_125_899_906_842.623_9,
    1_125_899_906_842_624, 9e12,
  ]

  private static let counts: [Int64] = [0, 1, -1, 127, 128, 300, 16_384, .max, .min, .max / 2, .min / 2 - 1]

  mutating func chance(_ share: Int = 2) -> Bool { Int.random(in: 0..<share, using: &random) == 0 }

  mutating func text() -> String { RandomEvents.texts.randomElement(using: &random) ?? "" }

  mutating func number() -> Double {
    if chance(4) { return RandomEvents.numbers.randomElement(using: &random) ?? 0 }
    return Double.random(in: -100...100, using: &random)
  }

  mutating func count() -> Int64 {
    chance(4)
      ? RandomEvents.counts.randomElement(using: &random) ?? 0 : Int64.random(in: -5...5_000, using: &random)
  }

  mutating func span() -> TimeSpan {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: TimeSpan(nanoseconds: count())
    case 1: .milliseconds(Int64.random(in: -10...600_000, using: &random))
    case 2:
      [.forever, .zero, .oneNanosecond, TimeSpan(nanoseconds: .min)].randomElement(using: &random) ?? .zero
    default: TimeSpan(nanoseconds: Int64.random(in: 0...600_000_000_000, using: &random))
    }
  }

  mutating func time() -> Timestamp {
    if chance(8) {
      return [.distantPast, .distantFuture, Timestamp(nanoseconds: 0)].randomElement(using: &random)
        ?? .distantPast
    }
    return Timestamp(seconds: 1_750_000_000)
      + TimeSpan(nanoseconds: Int64.random(in: 0...86_400_000_000_000, using: &random))
  }

  mutating func observer() -> ObserverID {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: .eui48(UInt64.random(in: 0...0xFFFF_FFFF_FFFF, using: &random))
    case 1: .eui64(random.next())
    case 2: .uuid(UUID128(high: random.next(), low: random.next()))
    default: .name((details == 16 ? text() : String(text().prefix(63))) + "-")
    }
  }

  mutating func beacon() -> BeaconID {
    let address = DeviceAddress(bits: random.next(), kind: .unknown)
    var beacon: BeaconID
    switch Int.random(in: 0..<3, using: &random) {
    case 0:
      let uuid = UUID128(high: random.next(), low: random.next())
      beacon = .proximity(
        uuid,
        major: UInt16.random(in: 0...UInt16.max, using: &random),
        minor: UInt16.random(in: 0...UInt16.max, using: &random)
      )
    case 1: beacon = .eddystone(EddystoneNamespace(high: random.next(), low: 7), instance: random.next())
    default: return .address(address)
    }
    if chance(4) { beacon = beacon.keyed(by: address) }
    return beacon
  }

  mutating func subject() -> SubjectID {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: .none
    case 1, 2: .observer(observer())
    default: .beacon(beacon())
    }
  }

  mutating func event() -> Event {
    Event(
      stream: "random",
      kind: kinds.randomElement(using: &random) ?? .fix,
      time: time(),
      decidedAt: time(),
      stage: [0, 1, 2, 3, 200].randomElement(using: &random) ?? 0,
      subject: subject(),
      application: text(),
      region: text(),
      counter: random.next(),
      ordinal: chance() ? 0 : random.next() >> UInt64.random(in: 0...63, using: &random),
      detail: detail()
    )
  }

  mutating func guidance() -> GuidanceDetail {
    GuidanceDetail(
      status: GuidanceDetail.Status.allCases.randomElement(using: &random) ?? .started,
      venue: text(),
      destination: text(),
      target: chance() ? nil : chance() ? .beacon(beacon()) : .observer(observer()),
      instruction: text(),
      level: chance() ? nil : Int.random(in: -5...20, using: &random),
      distanceToManeuver: chance() ? nil : Double.random(in: 0...1_000, using: &random),
      distanceRemaining: chance() ? nil : Double.random(in: 0...1_000, using: &random),
      durationRemaining: chance() ? nil : .seconds(Double.random(in: 0...1_000, using: &random))
    )
  }

  mutating func positioning() -> PositioningTransition {
    PositioningTransition(
      state: PositioningState.allCases.randomElement(using: &random) ?? .notPositioning,
      previous: PositioningState.allCases.randomElement(using: &random) ?? .notPositioning,
      reasons: PositioningReasons(rawValue: UInt16.random(in: 0...255, using: &random)),
      advice: chance() ? .none : .holdPhoneUp,
      conveyance: PositioningTransition.Conveyance.allCases.randomElement(using: &random) ?? .none,
      evidence: positioningEvidence()
    )
  }

  mutating func scanRequest() -> ScanRequest {
    ScanRequest(
      reason: ScanRequest.Reason.allCases.randomElement(using: &random) ?? .start,
      attempt: Int.random(in: 1...9, using: &random),
      evidence: positioningEvidence()
    )
  }

  private mutating func positioningEvidence() -> PositioningEvidence {
    PositioningEvidence(
      venue: text(),
      reported: chance() ? nil : PositioningState.allCases.randomElement(using: &random),
      scanAge: chance() ? nil : .seconds(Double.random(in: 0...1_000, using: &random)),
      distance: chance() ? nil : Double.random(in: 0...1_000, using: &random),
      horizontalAccuracy: chance() ? nil : Double.random(in: 0...100, using: &random),
      isTracking: chance()
    )
  }

  mutating func detail() -> EventDetail {
    switch Int.random(in: 0..<details, using: &random) {
    case 16: .positioning(positioning())
    case 17: .scanRequest(scanRequest())
    case 18, 19: .visit(visit())
    case 20:
      .occupancy(
        OccupancyTransition(
          direction: chance() ? .above : .below,
          count: Int(UInt16.random(in: 0...UInt16.max, using: &random)),
          threshold: OccupancyThreshold(above: 20, below: chance() ? 20 : 15)
        )
      )
    case 21: .guidance(guidance())
    case 22: .regionReset(chance() ? .replaced : .removed)
    case 14, 15: .fix(fix())
    case 0..<5: .region(transition())
    case 5: .regionLimit(limit: Int(count()), refused: text())
    case 6:
      .ranging(
        constraint: .proximity(UUID128(high: 1, low: random.next()), major: chance() ? nil : 3),
        beacons: readings()
      )
    case 7, 8: .zone(zone())
    case 9:
      .observer(
        ObserverTransition(
          lastHeard: chance() ? nil : time(),
          allowedGap: chance() ? nil : span(),
          bootID: chance() ? nil : UInt32.random(in: 0...UInt32.max, using: &random)
        )
      )
    case 10: .battery(millivolts: UInt16.random(in: 0...UInt16.max, using: &random), observer: observer())
    case 11: .clockStep(span())
    case 12:
      .authorisation(
        AuthorisationTransition(
          from: AuthorisationState.allCases.randomElement(using: &random) ?? .denied,
          to: AuthorisationState.allCases.randomElement(using: &random) ?? .always,
          purpose: text()
        )
      )
    default:
      .notification(
        NotificationDetail(
          rule: text(),
          occasion: chance() ? .enter : .exit,
          text: text(),
          cause: EventID(high: random.next(), low: 3)
        )
      )
    }
  }

  private mutating func visit() -> VisitDetail {
    VisitDetail(
      visit: EventID(high: random.next(), low: random.next()),
      arrival: time(),
      departure: chance() ? nil : time(),
      venue: text(),
      floor: chance()
        ? nil
        : VisitDetail.Floor(building: text(), level: -2, name: chance() ? nil : text(), x: 1.25, y: -3.5),
      latitude: chance() ? nil : 52.5,
      longitude: chance() ? nil : -4.089675,
      horizontalAccuracy: chance() ? nil : 2.25,
      place: chance()
        ? nil
        : VisitDetail.Place(
          kind: VisitDetail.Place.Kind.allCases.randomElement(using: &random) ?? .zone,
          identifier: text(),
          name: chance() ? nil : text(),
          probability: chance() ? nil : 0.75
        ),
      evidence: VisitDetail.Evidence(
        fixes: Int(UInt16.random(in: 0...UInt16.max, using: &random)),
        spread: chance() ? nil : 4.5,
        maximumGap: .milliseconds(Int64.random(in: 0...1_000_000, using: &random)),
        end: VisitDetail.Evidence.End.allCases.randomElement(using: &random) ?? .lasting
      )
    )
  }

  private mutating func fix() -> FixDetail {
    var fix = FixDetail(
      venue: text(),
      building: chance(3) ? "" : text(),
      level: Int(count()),
      floorName: text(),
      room: details == 16 || chance() ? nil : text(),
      place: details == 16 || chance() ? nil : text(),
      latitude: chance() ? nil : number(),
      longitude: chance() ? nil : number(),
      x: number(),
      y: number(),
      horizontalAccuracy: number(),
      speed: chance() ? nil : number(),
      course: chance() ? nil : number(),
      sources: FixSources(rawValue: UInt8.random(in: 0...FixSources.all.rawValue, using: &random)),
      age: span(),
      satellites: chance() ? .needed : .notNeeded
    )
    // The bytes that are pinned are those of the members of before.
    if details == 16 { return fix }
    if chance() {
      fix.progress = ItineraryProgress(
        distance: number(),
        share: number(),
        deviation: number(),
        isOffRoute: chance(),
        latitude: chance() ? nil : number(),
        longitude: chance() ? nil : number()
      )
    }
    fix.floorCertainty = chance() ? nil : number()
    (fix.altitude, fix.ellipsoidalAltitude) = (chance() ? nil : number(), chance() ? nil : number())
    (fix.verticalAccuracy, fix.speedAccuracy) = (chance() ? nil : number(), chance() ? nil : number())
    (fix.heading, fix.headingAccuracy) = (chance() ? nil : number(), chance() ? nil : number())
    fix.courseAccuracy = chance() ? nil : number()
    if chance() { fix.attitude = Rotation(w: Float(number()), x: Float(number()), y: 0.12345, z: -0.5) }
    fix.sourceInformation = SourceInformation(
      rawValue: UInt8.random(in: 0...SourceInformation.all.rawValue, using: &random)
    )
    return fix
  }

  private mutating func readings() -> [RangedReading] {
    (0..<Int.random(in: 0...4, using: &random)).map { _ in
      RangedReading(
        beacon: beacon(),
        rssi: number(),
        accuracy: number(),
        deviation: number(),
        proximity: [.immediate, .near, .far, .unknown].randomElement(using: &random) ?? .far,
        samples: Int(count())
      )
    }
  }

  private mutating func zone() -> ZoneTransition {
    ZoneTransition(
      from: chance() ? nil : text(),
      to: chance() ? nil : text(),
      margin: chance() ? nil : number(),
      dwell: chance() ? nil : span(),
      reason: [.margin, .silence, .notSure, .observerDown].randomElement(using: &random) ?? .margin,
      probability: chance() ? nil : number(),
      runnerUp: chance() ? nil : ZoneTransition.Candidate(zone: text(), probability: number()),
      hearings: (0..<Int.random(in: 0...3, using: &random)).map { _ in
        ZoneTransition.Hearing(observer: observer(), level: number(), offset: number())
      }
    )
  }

  private mutating func transition() -> RegionTransition {
    let states: [RegionState] = [.unknown, .inside, .outside, .unmonitored]
    return RegionTransition(
      from: states.randomElement(using: &random) ?? .unknown,
      to: states.randomElement(using: &random) ?? .unknown,
      refinement: chance() ? nil : beacon(),
      observer: chance() ? nil : observer(),
      enteredAt: chance() ? nil : time(),
      isAnswer: chance(4),
      evidence: evidence()
    )
  }

  mutating func evidence() -> Evidence {
    let rules: [Evidence.Rule] = [
      .samples, .level, .adaptiveSilence, .fixedSilence, .neverHeard, .observerOutage, .scanOff, .recovery,
      .alreadyInside, .assumed, .displayOn, .requested, .regionChange, .eviction,
    ]
    var evidence = Evidence(rule: rules.randomElement(using: &random) ?? .level)
    if chance() { evidence.samples = Int(count()) }
    if chance() { evidence.counted = Int(count()) }
    for path in [
      \Evidence.window, \.spread, \.gap, \.allowedGap, \.interval, \.belowFor, \.deafFor, \.waitedForProof,
    ] where chance() { evidence[keyPath: path] = span() }
    for path in [
      \Evidence.stretch, \.receptionShare, \.lossRun, \.level, \.levelDeviation, \.sampleLevel, \.threshold,
      \.distance, \.margin,
    ] where chance() { evidence[keyPath: path] = number() }
    if chance() { evidence.lastHeard = time() }
    if chance() { evidence.fixedRuleAt = time() }
    if details > 16, chance() { evidence.zone = text() }
    if details > 16, chance() { evidence.room = text() }
    if chance() { evidence.silence = silence() }
    return evidence
  }

  private mutating func silence() -> SilenceBasis {
    var basis = SilenceBasis(
      pace: .milliseconds(Int64.random(in: 0...60_000, using: &random)),
      surroundings: LevelClass.allCases.randomElement(using: &random) ?? .usual,
      opportunities: number(),
      runChance: number(),
      budget: number(),
      continued: number(),
      ended: number(),
      floor: span(),
      ceiling: span()
    )
    if chance() {
      basis.tail = SilenceBasis.Tail(from: Int(count()), chance: number(), continuation: number())
    }
    basis.misses = Int(count())
    return basis
  }
}
