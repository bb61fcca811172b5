package import PharosModel
import PharosPresence
import PharosSecurity
import PharosSimulation

/// Everything about a seed that is drawn beforehand: who is where, what is asked about, and what may go wrong.
package struct FaultPlan {
  /// A question that is put to the server, and what it is truly about.
  package struct Question {
    var application: String
    var region: String
    /// The stations that count.
    var stations: Set<Int>
    /// The transmitters that count.
    var transmitters: Set<Int>
    /// Whether the subject is the transmitter, or else the station.
    var isAboutBeacon: Bool
    /// Indicates whether only stays beside the station count, as the region has thresholds of levels.
    var isClose = false
    /// Indicates whether it is about a room, whose exits alone are held against the truth.
    var isRoom = false
  }

  let seed: UInt64
  /// How long things go wrong; then the world is quiet.
  var active: TrueTime
  package var kinds: Set<FaultKind>
  package var site = Site(stream: "faults")
  package var questions: [Question] = []
  var transmitters: [Transmitter] = []
  package var stations: [StationPlan] = []
  package var truth = Truth()
  /// How many loops the server has, by life.
  var shards: Int
  var checkpointInterval: TrueTime
  var limits = MonitoringLimits()
  /// How many subscribers come over the network, and how many live in the process.
  var clients: Int
  var streams: Int
  /// Indicates whether there is a receiver of a webhook, and a broker.
  var hasWebhook = false
  var hasBroker = false
  /// The number of decisions that may wait for the disk; nil for the server's own.
  var backlog: Int?
  /// How long a subscriber's token is valid; nil for tokens without an end.
  var tokenLife: TrueTime?

  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  /// The majors of what is carried, and of what hangs on a wall.
  static let tagMajor: UInt16 = 1
  static let wallMajor: UInt16 = 2

  /// Draws a plan.
  ///
  /// - Parameters:
  ///   - seed: what all is drawn from.
  ///   - more: kinds of faults that are injected whatever is drawn.
  ///   - generation: the generation of the generator; what the ones before it draw is the same with each.
  package init(seed: UInt64, adding more: Set<FaultKind> = [], generation: PlanGeneration = .fourth) {
    self.seed = seed
    var random = RandomStream(seed: seed, 1)
    active = .seconds(random.uniform(60, 240))
    // A third of the kinds at a time: enough for mixtures, few enough for quiet between them.
    let share = random.uniform(0.1, 0.6)
    kinds = Set(FaultKind.first.filter { _ in random.chance(share) })
    if !random.chance(0.15) { kinds.remove(.scramble) }
    kinds.formUnion(more)
    shards = 1 + Int(random.next() % 3)
    checkpointInterval = .seconds(random.chance(0.5) ? 30 : random.uniform(3, 15))
    clients = 1 + Int(random.next() % 3)
    streams = Int(random.next() % 3)
    if kinds.contains(.flood) { limits = MonitoringLimits(tracksPerObserver: 64, tracks: 256) }
    placeStations(&random)
    placeTransmitters(&random)
    ask(&random)
    if generation >= .second { widen(more) }
    if generation >= .third { addReaders() }
    if generation >= .fourth { addInstallation() }
  }

  /// The policy of a question: adaptive silence with a near ceiling, or a fixed one.
  private static func policy(_ random: inout RandomStream) -> PresencePolicy {
    var policy = PresencePolicy(silenceCeiling: .seconds(90))
    if random.chance(0.4) { policy.silence = .fixed(.seconds(random.chance(0.5) ? 20 : 30)) }
    return policy
  }

  private mutating func placeStations(_ random: inout RandomStream) {
    let gateways = 1 + Int(random.next() % 3)
    let handsets = Int(random.next() % 2)
    for index in 0..<gateways + handsets {
      let isHandset = index >= gateways
      var station = StationPlan(
        id: isHandset
          ? .uuid(UUID128(high: 7, low: UInt64(index))) : .eui48(0xAC23_3FA0_0000 | UInt64(index)),
        isHandset: isHandset,
        speaksRaddec: !isHandset && random.chance(0.25)
      )
      station.period = .seconds(random.uniform(0.5, 1))
      station.givesTime = random.chance(0.5)
      stations.append(station)
    }
    site.observers = stations.filter { _ in random.chance(0.5) }.map { ObserverEntry(id: $0.id) }
  }

  private mutating func placeTransmitters(_ random: inout RandomStream) {
    let end = active
    let forever = end + .seconds(86_400)
    let gateways = stations.indices.filter { !stations[$0].isHandset }
    for index in stations.indices {
      // What lies around at each station: by it the station's own life is seen.
      for _ in 0..<3 + Int(random.next() % 3) {
        let passerBy = Transmitter.passerBy(
          transmitters.count,
          interval: .seconds(random.uniform(0.5, 1.5)),
          phase: .seconds(random.uniform(0, 1))
        )
        truth.add(Truth.Stay(transmitter: transmitters.count, station: index, span: 0..<forever))
        transmitters.append(passerBy)
      }
    }
    for minor in 0..<1 + Int(random.next() % 4) {
      let tag = transmitters.count
      transmitters.append(
        .beacon(
          FaultPlan.uuid,
          major: FaultPlan.tagMajor,
          minor: UInt16(minor),
          interval: .seconds(random.uniform(0.4, 2)),
          phase: .seconds(random.uniform(0, 2))
        )
      )
      travel(tag, among: gateways, isResident: random.chance(0.5), until: end, forever, &random)
    }
    for (number, index) in stations.indices.filter({ stations[$0].isHandset }).enumerated() {
      let wall = transmitters.count
      transmitters.append(
        .beacon(
          FaultPlan.uuid,
          major: FaultPlan.wallMajor,
          minor: UInt16(number),
          interval: .seconds(random.uniform(0.3, 1)),
          phase: .seconds(random.uniform(0, 1))
        )
      )
      travel(wall, among: [index], isResident: random.chance(0.5), until: end, forever, &random)
    }
  }

  /// Where a transmitter goes: nowhere, or from place to place with times in none between.
  private mutating func travel(
    _ transmitter: Int,
    among places: [Int],
    isResident: Bool,
    until end: TrueTime,
    _ forever: TrueTime,
    _ random: inout RandomStream
  ) {
    var time: TrueTime = .seconds(random.uniform(0, 10))
    func place() -> Int { places[Int(random.next() % UInt64(places.count))] }
    if isResident {
      truth.add(Truth.Stay(transmitter: transmitter, station: place(), span: time..<forever))
      return
    }
    while time < end {
      let stay = TrueTime.seconds(random.uniform(20, 90))
      let isLast = time + stay >= end
      let leaves = isLast ? (random.chance(0.5) ? end : forever) : time + stay
      truth.add(Truth.Stay(transmitter: transmitter, station: place(), span: time..<leaves))
      time = leaves + (random.chance(0.4) ? 0 : .seconds(random.uniform(15, 60)))
    }
  }

  private mutating func ask(_ random: inout RandomStream) {
    let gateways = stations.indices.filter { !stations[$0].isHandset }
    let tags = Set(transmitters.indices.filter { transmitters[$0].beacon?.major == FaultPlan.tagMajor })
    let walls = Set(transmitters.indices.filter { transmitters[$0].beacon?.major == FaultPlan.wallMajor })
    var gallery = Application(identifier: "gallery")
    func add(_ name: String, _ stations: Set<Int>?, _ isAboutBeacon: Bool, _ transmitters: Set<Int>) {
      let major = isAboutBeacon ? FaultPlan.tagMajor : FaultPlan.wallMajor
      let listed = stations.map { $0.sorted().map { self.stations[$0].id } }
      gallery.regions.append(
        Region(
          identifier: name,
          constraint: .proximity(FaultPlan.uuid, major: major),
          subject: isAboutBeacon ? .beacon(observers: listed) : .observer,
          presence: FaultPlan.policy(&random)
        )
      )
      questions.append(
        Question(
          application: gallery.identifier,
          region: name,
          stations: stations ?? Set(self.stations.indices),
          transmitters: transmitters,
          isAboutBeacon: isAboutBeacon
        )
      )
    }
    add("tags", nil, true, tags)
    for index in gateways where random.chance(0.6) { add("room\(index)", [index], true, tags) }
    if !walls.isEmpty { add("near", nil, false, walls) }
    if random.chance(0.3) {
      gallery.ranging = [RangingRequest(constraint: .proximity(FaultPlan.uuid, major: FaultPlan.tagMajor))]
    }
    if random.chance(0.5) {
      site.zones = gateways.map { Zone(identifier: "zone\($0)", observers: [stations[$0].id]) }
    }
    site.applications = [gallery]
  }
}

/// A station as it was drawn.
package struct StationPlan {
  var id: ObserverID
  /// Whether it is carried around among beacons, and not a gateway that hears tags.
  var isHandset: Bool
  /// Whether it sends each advert by itself as raddec, and not Pharos datagrams.
  var speaksRaddec: Bool
  /// How often it sends.
  var period: TrueTime = .seconds(1)
  /// Whether its raddecs say when.
  var givesTime = true
  /// Whether its JSON objects say how long ago each advert was heard.
  var givesAges = true
  /// Indicates whether it sends JSON objects, and neither of the binary formats.
  var speaksJSON = false
  /// What its JSON objects are sent in.
  var envelope = Envelope.object
  /// The key that it signs with, if it does.
  var key: ObserverKey?
  /// The period of its sleep and the part of it that it sleeps, if it does.
  var sleep: (period: TrueTime, duration: TrueTime)?

  /// Indicates whether it sends the Pharos datagram.
  var speaksPharos: Bool { !speaksRaddec && !speaksJSON }
  /// Indicates whether it uploads in batches.
  var uploads: Bool { period > .seconds(1) }
  /// Indicates whether its datagrams say when it heard each advert.
  var isDated: Bool { speaksRaddec ? givesTime : givesAges }

  /// The station with its key, if it signs.
  var keyed: KeyedObserver? {
    key.map { key in
      KeyedObserver(id: id, keys: [KeyedObserver.Entry(key: key, createdAt: .distantPast)])
    }
  }
}

/// What JSON objects are sent in.
enum Envelope: CaseIterable {
  /// A datagram with one object.
  case object
  /// An array of objects, as in the body of an HTTP request.
  case array
  /// A message of MQTT whose topic names the observer, which the object does not.
  case topic
}
