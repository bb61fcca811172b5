import PharosModel
import PharosSimulatedWorlds
import PharosSimulation
import PharosTestSupport
import Testing

@Suite("RoomDrill")
struct RoomDrillTests {
  private func items(_ drill: RoomDrill, seed: UInt64 = 2) -> [DrillItem] {
    var play = drill.play(seed: seed)
    var items: [DrillItem] = []
    while let item = play.next() { items.append(item) }
    return items
  }

  private func short(_ drill: RoomDrill, minutes: Int64 = 3) -> RoomDrill {
    var drill = drill
    drill.length = .minutes(minutes)
    return drill
  }

  @Test("items come in order of time, and the same seed gives the same ones", arguments: RoomDrill.all)
  func order(drill: RoomDrill) {
    let items = items(short(drill))
    #expect(items.count > 4_000)
    #expect(zip(items, items.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(items == self.items(short(drill)))
    #expect(items != self.items(short(drill), seed: 3))
  }

  @Test("a still tag stays in its reported room", arguments: [RoomDrill.house, .building])
  func still(drill: RoomDrill) {
    let rooms = items(short(drill)).compactMap { item -> (Int32, Timestamp)? in
      guard case .room(let subject, let time, _) = item else { return nil }
      return (subject, time)
    }
    #expect(rooms.count == drill.subjects)
    #expect(rooms.allSatisfy { $0.1 == Drill.start })
  }

  @Test(
    "a carried tag goes only to neighbours, and as often as asked",
    arguments: [RoomDrill.carried, .stairs]
  )
  func carried(drill: RoomDrill) {
    var drill = short(drill, minutes: 60)
    drill.interval = .seconds(1)
    drill.subjects = 8
    var room: [Int32: Int] = [:]
    var changes = 0
    for case .room(let subject, _, let next) in items(drill) {
      if let last = room[subject] {
        #expect(drill.rooms[last].neighbours.contains(Int(next)))
        changes += 1
      }
      room[subject] = Int(next)
    }
    let rest = drill.rest.map { ($0.lowerBound.seconds + $0.upperBound.seconds) / 2 } ?? 1
    let expected = Double(drill.subjects) * 3_600 / (rest + 6)
    #expect(abs(Double(changes) / expected - 1) < 0.2)
  }

  @Test("levels scatter as the house specifies: 2.5 dB, and one advert in ten 6 dB weaker")
  func scatter() {
    var drill = short(.house, minutes: 10)
    drill.subjects = 4
    var levels: [[Double]] = Array(repeating: [], count: 16)
    for case .advert(let subject, let observer, _, let level) in items(drill) {
      levels[Int(subject) * 4 + Int(observer)].append(Double(level.dBm))
    }
    // The variance of both parts and of rounding to whole dBm: 6.25 + 36 · 0.1 · 0.9 + 1/12.
    let variance = levels.filter { $0.count > 1_800 }.map { $0.deviation * $0.deviation }
    #expect(variance.count > 12)
    #expect(variance.allSatisfy { abs($0 - 9.57) < 1.2 })
  }

  @Test("the observer of a tag's own room hears it loudest in the mean, most of the time")
  func nearest() {
    let drill = short(.house)
    var sums = Array(repeating: Array(repeating: (0.0, 0.0), count: 4), count: drill.subjects)
    var room: [Int32: Int32] = [:]
    for item in items(drill) {
      switch item {
      case .room(let subject, _, let number): room[subject] = number
      case .advert(let subject, let observer, _, let level):
        sums[Int(subject)][Int(observer)].0 += Double(level.dBm)
        sums[Int(subject)][Int(observer)].1 += 1
      case .heartbeat, .boot, .came, .left, .outage: break
      }
    }
    let right = sums.indices.count { subject in
      let means = sums[subject].map { $0.1 > 0 ? $0.0 / $0.1 : -200 }
      return means.firstIndex(of: means.max() ?? 0).map { Int32($0) } == room[Int32(subject)]
    }
    #expect(right >= drill.subjects - 2)
  }

  @Test("the loud observer above hears 12 dB more than it should")
  func loud() {
    #expect(RoomDrill.building.observers.map(\.gain) == [0, 0, 0, 0, 12, 0])
    var quiet = short(.building)
    let loud = items(quiet)
    quiet.observers[4].gain = 0
    func heard(_ items: [DrillItem]) -> Int {
      items.count { if case .advert(_, 4, _, _) = $0 { true } else { false } }
    }
    #expect(heard(loud) > heard(items(quiet)))
  }
}
