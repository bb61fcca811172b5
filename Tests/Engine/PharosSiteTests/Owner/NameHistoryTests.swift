import Foundation
import PharosDocuments
import PharosModel
import PharosSite
import PharosTestSupport
import Synchronization
import Testing

@Suite("The history of names")
struct NameHistoryTests {
  @Test(
    "at each instant everything has the name that the site gave it then, through edits of all kinds and restarts",
    arguments: Seeds.drawn(0..<200 as Range<UInt64>)
  )
  func drawn(seed: UInt64) async throws {
    var world = try RenamedSite(seed: seed)
    for _ in 0..<60 {
      try await world.step()
      world.check()
    }
    // The names have changed, or nothing was tested.
    #expect(world.differences > 100)
  }

  @Test("a name counts up to the instant of its change, and an event is written with it")
  func event() async throws {
    let clock = HandClock(100)
    let owner = try RenamedSite.owner(of: OwnedGallery.site, MemoryDocuments(), clock)
    let engine = PausingEngine(owner)
    func name(at seconds: Int64) -> String {
      var json = JSONText()
      json.names = owner.names
      RenamedSite.battery(at: seconds).write(to: &json, stream: "test")
      func member(_ key: String) -> String {
        let parts = json.text.components(separatedBy: "\"\(key)\":\"")
        return parts.count > 1 ? String(parts[1].prefix { $0 != "\"" }) : "-"
      }
      return "\(member("name")) in \(member("room")) by \(member("observerName"))"
    }
    #expect(name(at: 50) == "- in lobby by front desk")
    _ = try await owner.put(beacon: RenamedSite.tag, RenamedSite.entry("Anna"))
    #expect(name(at: 99) == "- in lobby by front desk")
    #expect(name(at: 100) == "Anna in lobby by front desk")
    clock.seconds = 200
    var edited = OwnedGallery.site
    edited.zones[0].name = "Reception"
    edited.observers[0].name = "counter"
    try await owner.reload(edited)
    clock.seconds = 300
    try await owner.delete(beacon: RenamedSite.tag)
    #expect(name(at: 199) == "Anna in lobby by front desk")
    #expect(name(at: 200) == "Anna in Reception by counter")
    #expect(name(at: 299) == "Anna in Reception by counter")
    #expect(name(at: 300) == "- in Reception by counter")
    #expect(!engine.changes.isEmpty)
  }

  @Test(
    "a rename while the server was stopped counts from the next start; the first start knows no other names"
  )
  func restarts() throws {
    let (store, clock) = (MemoryDocuments(), HandClock(100))
    var site = OwnedGallery.site
    #expect(try RenamedSite.owner(of: site, store, clock).names.history == NameHistory())
    site.zones[0].name = "Reception"
    clock.seconds = 200
    let owner = try RenamedSite.owner(of: site, store, clock)
    #expect(owner.names.asOf(Timestamp(seconds: 199)).room(ofZone: "lobby") == "lobby")
    #expect(owner.names.asOf(Timestamp(seconds: 200)).room(ofZone: "lobby") == "Reception")
    let changes = store.changes
    clock.seconds = 300
    #expect(try RenamedSite.owner(of: site, store, clock).names.history == owner.names.history)
    #expect(store.changes == changes, "a start that finds nothing renamed writes nothing")
  }

  @Test("an erased subject has no former names, in memory and in the store, and other names stay")
  func erasure() async throws {
    let (store, clock) = (MemoryDocuments(), HandClock(100))
    let owner = try RenamedSite.owner(of: OwnedGallery.site, store, clock)
    let engine = PausingEngine(owner)
    let traces = try #require(SubjectTraces("\(RenamedSite.tag)"))
    for name in ["Anna", "Bert", "Carl"] {
      clock.seconds += 10
      _ = try await owner.put(beacon: RenamedSite.tag, RenamedSite.entry(name))
      let room = Zone(identifier: "attic", name: "\(name)'s room", observers: [.name("roof")])
      _ = try await owner.change(zones: [room])
    }
    clock.seconds += 10
    _ = try await owner.forgetBeacons(traces)
    #expect(try await owner.forget(traces) == 1)
    #expect(try await owner.forget(traces) == 0)
    func check(_ owner: SiteOwner) {
      for seconds in 90..<200 as Range<Int64> {
        let names = owner.names.asOf(Timestamp(seconds: seconds))
        #expect(names.given(to: .beacon(RenamedSite.tag)) == nil)
        let room = ["attic", "Anna's room", "Bert's room", "Carl's room"][
          Int(min(3, max(0, seconds / 10 - 10)))
        ]
        #expect(names.room(ofZone: "attic") == room)
      }
    }
    check(owner)
    check(try RenamedSite.owner(of: OwnedGallery.site, store, clock))
    let left = try store.documents(kind: "site.name")
    #expect(left.map(\.key) == ["", "observer/front-desk", "place/front-desk", "place/roof", "zone/attic"])
    #expect(!engine.changes.isEmpty)
  }

  @Test(
    "of more than 256 former names the earliest are dropped; names that nothing kept can need go by their end"
  )
  func bounds() async throws {
    let (store, clock) = (MemoryDocuments(), HandClock(0))
    let owner = try RenamedSite.owner(of: Site(), store, clock)
    let engine = PausingEngine(owner)
    for number in 1...300 as ClosedRange<Int64> {
      clock.seconds = number
      _ = try await owner.change(zones: [Zone(identifier: "attic", name: "room \(number)", observers: [])])
    }
    #expect(owner.names.history.names[.zone("attic")]?.count == NameHistory.maximumCount)
    #expect(owner.names.asOf(Timestamp(seconds: 44)).room(ofZone: "attic") == "room 44")
    try await owner.dropNames(endingBy: Timestamp(seconds: 290))
    #expect(owner.names.asOf(Timestamp(seconds: 290)).room(ofZone: "attic") == "room 290")
    #expect(owner.names.history.names[.zone("attic")]?.count == 10)
    _ = try await owner.change(removing: ["attic"])
    clock.seconds = 301
    try await owner.dropNames(endingBy: Timestamp(seconds: 301))
    #expect(owner.names.history.names.isEmpty)
    #expect(try store.documents(kind: "site.name").map(\.key) == [""])
    #expect(!engine.changes.isEmpty)
  }

  @Test("a record that cannot be read costs the former names of its identity alone")
  func damage() throws {
    let (store, clock) = (MemoryDocuments(), HandClock(100))
    _ = try RenamedSite.owner(of: OwnedGallery.site, store, clock)
    let key = "observer/\(OwnedGallery.desk)"
    try store.change([DocumentChange(kind: "site.name", key: key, document: [1, 200])])
    clock.seconds = 200
    let owner = try RenamedSite.owner(of: OwnedGallery.site, store, clock)
    #expect(owner.names.given(to: .observer(OwnedGallery.desk)) == "front desk")
    let names = owner.names.asOf(Timestamp(seconds: 150))
    #expect(names.given(to: .observer(OwnedGallery.desk)) == nil)
    #expect(names.room(of: OwnedGallery.desk) == "lobby")
  }
}

/// A clock that is set by hand.
private final class HandClock: Sendable {
  private let time: Mutex<Int64>

  init(_ seconds: Int64) { time = Mutex(seconds) }

  var seconds: Int64 {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }
}

/// A site that is edited in every way in which one can be, beside all the sites that it was: the slow reference.
private struct RenamedSite {
  static let tag = BeaconID.proximity(OwnedGallery.uuid, major: 1, minor: 7)
  private static let beacons = [
    tag, .address(DeviceAddress(bits: 0xAC23_3FA0_0001, kind: .unknown)),
    .proximity(OwnedGallery.uuid, major: 1, minor: 8),
  ]
  private static let observers: [ObserverID] = [OwnedGallery.desk, .name("roof"), .eui48(0xAC23_3FA0_0002)]
  private static let zones = ["lobby", "attic", "hall"]
  private static let names = ["Kitchen", "Studio", "Anna", "Bert"]

  private var generator: SeededGenerator
  private let store = MemoryDocuments()
  private let clock = HandClock(100)
  private var file = OwnedGallery.site
  private var owner: SiteOwner
  private var engine: PausingEngine
  /// The sites that counted, each from an instant on.
  private var sites: [(start: Int64, site: Site)]
  /// The instant before which names have been dropped.
  private var horizon: Int64 = 0
  /// Zones that were replaced or removed, which an owner may take back.
  private var replaced: [Zone] = []
  /// The number of comparisons in which the name of then was not the present one.
  private(set) var differences = 0

  init(seed: UInt64) throws {
    generator = SeededGenerator(seed: seed)
    owner = try RenamedSite.owner(of: file, store, clock)
    engine = PausingEngine(owner)
    sites = [(.min, owner.site)]
  }

  static func owner(of declared: Site, _ store: MemoryDocuments, _ clock: HandClock) throws -> SiteOwner {
    let owner = try SiteOwner(declared: declared, store: store, logger: OwnedGallery.logger)
    try owner.recordNames(by: { Timestamp(seconds: clock.seconds) }, logger: OwnedGallery.logger)
    return owner
  }

  static func entry(_ name: String?, of id: BeaconID = tag) -> BeaconEntry {
    BeaconEntry(constraint: BeaconEntry.constraint(of: id), name: name)
  }

  /// An event of the tag that the desk heard, which states a name, a room and the name of another identity.
  static func battery(at seconds: Int64) -> Event {
    Event(
      stream: "test",
      kind: .beaconBattery,
      time: Timestamp(seconds: seconds),
      decidedAt: Timestamp(seconds: seconds),
      stage: 2,
      subject: .beacon(tag),
      counter: 1,
      detail: .battery(millivolts: 3_000, observer: OwnedGallery.desk)
    )
  }

  /// Makes an edit, a start, or a step of the clock; one edit in eight meets a full store.
  mutating func step() async throws {
    // Seldom the clock is set back; several edits may fall on one instant.
    clock.seconds +=
      Int.random(in: 0..<20, using: &generator) == 0 ? -7 : Int64.random(in: 0...4, using: &generator)
    store.isFull = Int.random(in: 0..<8, using: &generator) == 0
    let before = owner.site
    do {
      try await edit()
    } catch is RegistrationRefusal {
      #expect(owner.site == before)
    } catch is MemoryDocuments.Full {
      #expect(owner.site == before)
    }
    store.isFull = false
    if Int.random(in: 0..<8, using: &generator) == 0 {
      if Bool.random(using: &generator) { file = drawnFile() }
      owner = try RenamedSite.owner(of: file, store, clock)
      engine = PausingEngine(owner)
      note(isStart: true, before)
    } else {
      note(isStart: false, before)
    }
    if Int.random(in: 0..<10, using: &generator) == 0 {
      horizon = max(horizon, clock.seconds - 20)
      try await owner.dropNames(endingBy: Timestamp(seconds: horizon))
    }
  }

  private mutating func edit() async throws {
    let observer = pick(Self.observers)
    let beacon = pick(Self.beacons)
    switch Int.random(in: 0..<9, using: &generator) {
    case 0, 1:
      let zone = drawnZone(pick(Self.zones))
      replaced += owner.site.zones.filter { $0.identifier == zone.identifier }
      _ = try await owner.change(zones: [zone])
    case 2:
      let identifier = pick(Self.zones)
      replaced += owner.site.zones.filter { $0.identifier == identifier }
      _ = try await owner.change(removing: [identifier])
    case 3: if let zone = replaced.popLast() { _ = try await owner.change(zones: [zone]) }
    case 4: _ = try await owner.put(beacon: beacon, Self.entry(drawnName(), of: beacon))
    case 5: try await owner.delete(beacon: beacon)
    case 6: _ = try await owner.put(observer: ObserverEntry(id: observer, name: drawnName()))
    case 7: try await owner.delete(observer: observer)
    default:
      let edited = drawnFile()
      try await owner.reload(edited)
      file = edited
    }
  }

  private mutating func drawnFile() -> Site {
    var site = OwnedGallery.site
    site.observers[0].name = drawnName()
    site.zones = [drawnZone("lobby")]
    return site
  }

  private mutating func drawnZone(_ identifier: String) -> Zone {
    let observers = Self.observers.filter { _ in Bool.random(using: &generator) }
    return Zone(
      identifier: identifier,
      name: drawnName(),
      observers: observers.isEmpty ? [pick(Self.observers)] : observers
    )
  }

  private mutating func drawnName() -> String? {
    Int.random(in: 0..<5, using: &generator) == 0 ? nil : pick(Self.names)
  }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &generator)]
  }

  /// Notes the site that counts from now on, in place of those of a future which a clock that was set back has undone.
  private mutating func note(isStart: Bool, _ before: Site) {
    let after = owner.site
    guard
      isStart || before.observers != after.observers || before.beacons != after.beacons
        || before.zones != after.zones
    else { return }
    let now = clock.seconds
    for index in sites.indices { sites[index].start = min(sites[index].start, now) }
    sites.append((now, after))
  }

  /// Compares the names at each instant with those of the site that counted then.
  mutating func check() {
    let present = owner.names
    let end = max(clock.seconds, sites.map(\.start).max() ?? 0) + 2
    for seconds in min(max(horizon, 90), end)...end where seconds >= horizon {
      guard let site = sites.last(where: { $0.start <= seconds })?.site else { continue }
      let (found, expected) = (present.asOf(Timestamp(seconds: seconds)), SiteNames(site))
      for subject in Self.observers.map(SubjectID.observer) + Self.beacons.map(SubjectID.beacon) {
        #expect(found.given(to: subject) == expected.given(to: subject), "\(subject) at \(seconds)")
        if found.given(to: subject) != present.given(to: subject) { differences += 1 }
      }
      for observer in Self.observers {
        #expect(found.room(of: observer) == expected.room(of: observer), "\(observer) at \(seconds)")
      }
      for zone in Self.zones {
        #expect(found.room(ofZone: zone) == expected.room(ofZone: zone), "\(zone) at \(seconds)")
      }
    }
  }
}
