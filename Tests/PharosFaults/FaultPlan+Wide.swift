import PharosModel
import PharosSimulation

/// The part of a plan that draws what fails in the field: beacons that advertise every 2 to 60 s, tags that advertise slowly at rest,
/// addresses that change, lone reflections, thresholds of levels, liveness modes, JSON, gateways that sleep or share an identity, edits
/// of the site, and erasure.
///
/// It is drawn from a stream of its own, so that a seed's plan is otherwise the same as without it.
extension FaultPlan {
  /// The minor of the first tag that a wide plan adds.
  static let firstAddedMinor: UInt16 = 100
  /// The interval at rest that is declared in every policy of a wide plan.
  static let stillInterval = TrueTime.seconds(10)
  /// The application whose regions are edited while the server runs.
  static let edited = "visitors"

  mutating func widen(_ more: Set<FaultKind>) {
    var random = RandomStream(seed: seed, 8)
    kinds.formUnion(FaultKind.second.filter { _ in random.chance(0.2) })
    kinds.formUnion(more)
    drawStations(&random)
    let added = addTags(&random)
    if random.chance(0.3) { addReflections(&random) }
    adjustQuestions(added)
    if random.chance(0.4) { askAboutLevels(&random) }
    if kinds.contains(.twin) { pairStations(&random) }
  }

  private mutating func drawStations(_ random: inout RandomStream) {
    for index in stations.indices where !stations[index].isHandset {
      if stations[index].speaksPharos, random.chance(0.25) { stations[index].speaksJSON = true }
      if kinds.contains(.sleep), random.chance(0.6) {
        let period = TrueTime.seconds(random.uniform(60, 300))
        stations[index].sleep = (period, TrueTime(Double(period) * random.uniform(0.1, 0.5)))
      }
    }
    for index in site.observers.indices where random.chance(0.4) {
      let station = stations.first { $0.id == site.observers[index].id }
      // A raddec has no heartbeat; an observer that never sends one would be down at once.
      site.observers[index].liveness =
        station?.speaksRaddec != true && random.chance(0.5) ? .heartbeat : .traffic
    }
  }

  /// Adds tags that advertise slowly, or fast while they move and slowly at rest, or from changing addresses.
  private mutating func addTags(_ random: inout RandomStream) -> Set<Int> {
    let gateways = stations.indices.filter { !stations[$0].isHandset }
    var added: Set<Int> = []
    for number in 0..<random.next() % 3 {
      let minor = FaultPlan.firstAddedMinor + UInt16(number)
      var interval = random.uniform(0.4, 2)
      var restRatio = 1
      switch random.next() % 3 {
      case 0: interval = random.uniform(2, 60)
      case 1: restRatio = Int(Double(FaultPlan.stillInterval) / 1e9 / interval)
      default: break
      }
      var tag = Transmitter.beacon(
        FaultPlan.uuid,
        major: FaultPlan.tagMajor,
        minor: minor,
        interval: .seconds(interval),
        phase: .seconds(random.uniform(0, interval))
      )
      tag.restRatio = restRatio
      if random.chance(0.3) { tag.addressPeriod = .seconds(random.uniform(20, 120)) }
      let index = transmitters.count
      transmitters.append(tag)
      added.insert(index)
      if interval > 2 { active = max(active, .seconds(random.uniform(8, 15) * interval)) }
      stay(index, among: gateways, lasting: max(20, interval * 4), &random)
    }
    return added
  }

  /// Stays of an added tag: beside a station, far from it, or in none.
  private mutating func stay(
    _ tag: Int,
    among places: [Int],
    lasting shortest: Double,
    _ random: inout RandomStream
  ) {
    let forever = active + .seconds(86_400)
    var time: TrueTime = .seconds(random.uniform(0, 10))
    while time < active {
      let place = places[Int(random.next() % UInt64(places.count))]
      let length = TrueTime.seconds(random.uniform(shortest, shortest * 4))
      let isLast = time + length >= active
      let leaves = isLast ? (random.chance(0.5) ? active : forever) : time + length
      var stay = Truth.Stay(transmitter: tag, station: place, span: time..<leaves)
      stay.isFar = random.chance(0.3)
      truth.add(stay)
      time = leaves + (random.chance(0.4) ? 0 : .seconds(random.uniform(shortest, shortest * 3)))
    }
  }

  /// Single adverts of tags that are away, more than three minutes apart.
  private mutating func addReflections(_ random: inout RandomStream) {
    for tag in transmitters.indices where transmitters[tag].beacon?.major == FaultPlan.tagMajor {
      for station in stations.indices where !stations[station].isHandset {
        var time = TrueTime.seconds(random.uniform(20, 400))
        while time < active {
          truth.add(reflectionOf: tag, at: station, time)
          time += .seconds(random.uniform(190, 500))
        }
      }
    }
  }

  /// Adds the new tags to the questions about tags, whose policies must suit them: a fixed silence does not, nor does a near ceiling.
  private mutating func adjustQuestions(_ added: Set<Int>) {
    guard !added.isEmpty else { return }
    for index in questions.indices where questions[index].isAboutBeacon {
      questions[index].transmitters.formUnion(added)
    }
    for index in site.applications[0].regions.indices
    where site.applications[0].regions[index].subject != .observer {
      site.applications[0].regions[index].presence.silence = .adaptive
      site.applications[0].regions[index].presence.silenceCeiling = PresencePolicy().silenceCeiling
      site.applications[0].regions[index].presence.stillInterval = TimeSpan(
        nanoseconds: FaultPlan.stillInterval
      )
    }
  }

  /// Asks who is close to a station, with thresholds for its levels.
  private mutating func askAboutLevels(_ random: inout RandomStream) {
    guard let station = stations.indices.first(where: { !stations[$0].isHandset }) else { return }
    let tags = Set(transmitters.indices.filter { transmitters[$0].beacon?.major == FaultPlan.tagMajor })
    let policy = PresencePolicy(
      enterRSSI: -70,
      exitRSSI: -76,
      exitDwell: .seconds(random.uniform(2, 10)),
      stillInterval: TimeSpan(nanoseconds: FaultPlan.stillInterval)
    )
    site.applications[0].regions.append(
      Region(
        identifier: "close",
        constraint: .proximity(FaultPlan.uuid, major: FaultPlan.tagMajor),
        subject: .beacon(observers: [stations[station].id]),
        presence: policy
      )
    )
    questions.append(
      Question(
        application: site.applications[0].identifier,
        region: "close",
        stations: [station],
        transmitters: tags,
        isAboutBeacon: true,
        isClose: true
      )
    )
  }

  /// Gives two gateways one identity.
  ///
  /// No decision tells them apart, so each question about one is about both, and exits are not held
  /// against the truth: the one that is heard proves the life of the other.
  private mutating func pairStations(_ random: inout RandomStream) {
    let gateways = stations.indices.filter { !stations[$0].isHandset }
    guard let first = gateways.first, let twin = gateways.dropFirst().last else { return }
    // To the server, reflections at the one and at the other would be of one observer, and two of them together a presence.
    truth.removeReflections(at: twin)
    let old = stations[twin].id
    stations[twin].id = stations[first].id
    site.observers.removeAll { $0.id == old }
    site.zones.removeAll { $0.observers.contains(old) }
    for index in site.applications[0].regions.indices {
      guard case .beacon(let listed?) = site.applications[0].regions[index].subject else { continue }
      site.applications[0].regions[index].subject = .beacon(
        observers: listed.map { $0 == old ? stations[first].id : $0 }
      )
    }
    for index in questions.indices where !questions[index].stations.isDisjoint(with: [first, twin]) {
      questions[index].stations.formUnion([first, twin])
    }
  }

  /// The site after an edit: other regions of another application, and zones that come and go.
  func edited(_ site: Site, _ random: inout RandomStream) -> Site {
    var site = site
    site.applications.removeAll { $0.identifier == FaultPlan.edited }
    if random.chance(0.8) {
      var application = Application(identifier: FaultPlan.edited)
      for number in 0..<3 where random.chance(0.6) {
        var policy = PresencePolicy()
        if random.chance(0.5) { policy.silence = .fixed(.seconds(random.uniform(5, 60))) }
        if random.chance(0.3) { policy.enterRSSI = random.uniform(-90, -50) }
        application.regions.append(
          Region(
            identifier: "visit\(number)",
            constraint: .proximity(FaultPlan.uuid, major: FaultPlan.tagMajor),
            subject: random.chance(0.5) ? .observer : .beacon(observers: nil),
            presence: policy
          )
        )
      }
      site.applications.append(application)
    }
    if random.chance(0.3) {
      for index in site.observers.indices {
        site.observers[index].lag = random.chance(0.5) ? .seconds(1) : nil
      }
    }
    return site
  }
}
