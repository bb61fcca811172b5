import Foundation
import PharosJournal
import PharosModel
import PharosTestSupport

/// Events of a small site as they might come, of every kind; the same for the same seed.
struct Timeline {
  static let stream = "timeline"
  static let applications = ["gallery", "shop", ""]
  static let regions = ["entrance", "hall", "caf\u{E9}", "cafe\u{301}", ""]
  static let observers: [ObserverID] = (0..<6).map { .eui48(0xAC23_3FA0_0000 + $0) } + [.name("front desk")]
  static let beacons: [BeaconID] =
    (0..<8).map { .proximity(UUID128(high: 1, low: 2), major: 1, minor: $0) }
    + [.address(DeviceAddress(bits: 0xC0FF_EE00_0001, kind: .unknown))]

  private var random: SeededGenerator
  private var now = Timestamp(seconds: 1_760_000_000)
  private var count: UInt64 = 0

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// The next so many events.
  mutating func events(_ number: Int) -> [Event] { (0..<number).map { _ in next() } }

  /// The next event.
  mutating func next() -> Event {
    count += 1
    now = now + TimeSpan(nanoseconds: Int64.random(in: 0...40_000_000, using: &random))
    let kind = EventKind.allCases.randomElement(using: &random) ?? .regionState
    let happened = now - .milliseconds(Int64.random(in: 0...30_000, using: &random))
    let detail: EventDetail =
      switch kind {
      case .regionState, .regionEnter, .regionExit, .regionUnmonitored, .regionHoldExceeded:
        .region(transition(at: happened))
      case .regionLimitExceeded: .regionLimit(limit: 20, refused: "one too many")
      case .zoneExit, .zoneEnter: .zone(zone())
      case .beaconBattery: .battery(millivolts: 2_950, observer: observer())
      case .clockStepped: .clockStep(.milliseconds(-1_500))
      case .authorisationChanged:
        .authorisation(AuthorisationTransition(from: .notDetermined, to: .always, purpose: "tours"))
      case .notification:
        .notification(
          NotificationDetail(rule: "hello", occasion: .enter, text: "Hello", cause: EventID(high: 1, low: 2))
        )
      default: .observer(ObserverTransition(lastHeard: happened, allowedGap: .seconds(3), bootID: 7))
      }
    return Event(
      stream: Timeline.stream,
      kind: kind,
      time: happened,
      decidedAt: now,
      stage: UInt8.random(in: 0...2, using: &random),
      subject: subject(of: kind),
      application: Timeline.applications.randomElement(using: &random) ?? "",
      region: Timeline.regions.randomElement(using: &random) ?? "",
      counter: count,
      ordinal: count,
      detail: detail
    )
  }

  /// Returns a filter as a client might ask for, given roughly how many events there are.
  mutating func filter(over events: Int) -> EventFilter {
    var filter = EventFilter()
    if chance(3) { filter.kinds = Set(some(EventKind.allCases)) }
    if chance(4) { filter.applications = Set(some(Timeline.applications + ["unknown"])) }
    if chance(3) { filter.regions = Set(some(Timeline.regions + ["nowhere"])) }
    if chance(3) {
      let subjects = Timeline.observers.map { SubjectID.observer($0) } + Timeline.beacons.map { .beacon($0) }
      filter.subjects = Set(some(subjects + [.none, .observer(.name("unknown"))]))
    }
    if chance(4) { filter.observers = Set(some(Timeline.observers + [.name("unknown")])) }
    let start = Timestamp(seconds: 1_760_000_000)
    let span = Int64(events) * 20_000_000
    if chance(3) {
      filter.since = start + TimeSpan(nanoseconds: Int64.random(in: -span / 10...span, using: &random))
    }
    if chance(3) {
      filter.until = start + TimeSpan(nanoseconds: Int64.random(in: 0...(span + span / 10), using: &random))
    }
    return filter
  }

  mutating func chance(_ share: Int) -> Bool { Int.random(in: 0..<share, using: &random) == 0 }

  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func some<Element>(_ all: [Element]) -> [Element] {
    (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in all.randomElement(using: &random) }
  }

  private mutating func observer() -> ObserverID {
    Timeline.observers.randomElement(using: &random) ?? .name("none")
  }

  private mutating func beacon() -> BeaconID {
    Timeline.beacons.randomElement(using: &random) ?? Timeline.beacons[0]
  }

  private mutating func subject(of kind: EventKind) -> SubjectID {
    switch kind {
    case .clockStepped, .regionLimitExceeded: .none
    case .observerOnline, .observerOffline, .observerRestarted: .observer(observer())
    case .zoneEnter, .zoneExit, .beaconBattery: .beacon(beacon())
    default: chance(2) ? .observer(observer()) : .beacon(beacon())
    }
  }

  private mutating func transition(at time: Timestamp) -> RegionTransition {
    let states: [RegionState] = [.inside, .outside, .unmonitored, .unknown]
    var evidence = Evidence(rule: .adaptiveSilence)
    evidence.gap = .milliseconds(Int64.random(in: 0...60_000, using: &random))
    evidence.level = Double.random(in: -100...(-40), using: &random)
    evidence.lastHeard = time - .seconds(31.25)
    return RegionTransition(
      from: states.randomElement(using: &random) ?? .unknown,
      to: states.randomElement(using: &random) ?? .unknown,
      refinement: chance(2) ? beacon() : nil,
      observer: chance(2) ? observer() : nil,
      enteredAt: chance(2) ? time - .seconds(90) : nil,
      isAnswer: chance(5),
      evidence: evidence
    )
  }

  private mutating func zone() -> ZoneTransition {
    ZoneTransition(
      from: chance(2) ? "hall" : nil,
      to: "entrance",
      margin: 4.5,
      dwell: .seconds(2),
      reason: .margin,
      hearings: (0..<number(0...3)).map { _ in
        ZoneTransition.Hearing(observer: observer(), level: -61.25, offset: 1)
      }
    )
  }
}

/// A folder that is gone when the value is.
final class ScratchFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)").path

  var database: String { path + "/journal.sqlite" }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// What a journal must say, the slow and obvious way.
struct ModelJournal {
  private(set) var committed: [JournaledEvent] = []
  private var table = StateTable()

  var rows: PublishedState { table.state }

  mutating func append(_ entries: [Journal.Entry]) {
    for entry in entries {
      table.record(entry.event)
      guard entry.isPublished else { continue }
      committed.append(JournaledEvent(sequence: Int64(committed.count) + 1, event: entry.event))
    }
  }
}

extension Sequence<JournaledEvent> {
  /// The lines that a stream would send for them.
  var lines: [String] { map { "\($0.sequence) \($0.event.cloudEvent(stream: Timeline.stream))" } }
}
