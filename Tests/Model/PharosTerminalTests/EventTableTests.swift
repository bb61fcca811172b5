import PharosModel
import PharosTerminal
import Testing

@Suite("Events as lines of a table")
struct EventTableTests {
  @Test(
    "a distance that is no number of metres is left out",
    arguments: [
      (Double.infinity, "far"), (.nan, "far"), (-1, "far"), (1e300, "far ? m"), (12.34, "far 12.3 m"),
    ]
  )
  func distance(accuracy: Double, words: String) {
    let uuid = UUID128(high: 1, low: 2)
    let reading = RangedReading(
      beacon: .proximity(uuid, major: 1, minor: 7),
      rssi: -80,
      accuracy: accuracy,
      deviation: 1,
      proximity: .far,
      samples: 3
    )
    let event = Event(
      stream: "s",
      kind: .ranging,
      time: Timestamp(seconds: 1),
      decidedAt: Timestamp(seconds: 1),
      stage: 1,
      subject: .observer(.name("desk")),
      application: "a",
      region: "",
      counter: 1,
      ordinal: 1,
      detail: .ranging(constraint: .proximity(uuid), beacons: [reading])
    )
    let line = EventTable(site: Site()).lines(for: event).first ?? ""
    #expect(line.hasSuffix(words) || line.contains(words + " "), "\(line)")
  }
}
