import PharosModel
import PharosPresence
import Testing

@Suite("A rotation of many regions")
struct RotationTests {
  /// A venue with two floors of thirty exhibits each; an exhibit's major is its floor, its minor its number.
  static func tree() -> [RegionNode] {
    let floors = (UInt16(1)...2).map { floor in
      RegionNode(
        region: Timeline.region("floor\(floor)", major: floor),
        children: (UInt16(1)...30).map { exhibit in
          RegionNode(region: Timeline.region("exhibit\(floor).\(exhibit)", major: floor, minor: exhibit))
        }
      )
    }
    return [RegionNode(region: Timeline.region("venue"), children: floors)]
  }

  static func timeline(limit: Int = 5) -> Timeline {
    Timeline(
      Site(
        applications: [Application(identifier: "museum", rotation: tree(), regionLimit: limit)],
        observers: [ObserverEntry(id: Timeline.handset, liveness: .assumed)]
      )
    )
  }

  @Test("a visitor enters every exhibit on the way although only five regions are monitored at once")
  func walk() {
    var timeline = RotationTests.timeline()
    for exhibit in UInt16(1)...30 { timeline.receive(2, exhibit, at: Double(exhibit) * 10) }
    timeline.advance(to: 400)
    let enters = timeline.story([.regionEnter])
    #expect(enters.count { $0.contains("exhibit2.") } == 30)
    #expect(timeline.story([.regionExit]).count { $0.contains("exhibit2.") } == 30)
    #expect(!enters.contains { $0.contains("floor1") || $0.contains("exhibit1.") })
    let monitored = timeline.engine.standings()
    #expect(monitored.count <= 5)
  }

  @Test("beacons inside are never rotated out, and ancestors come before children")
  func kept() {
    var timeline = RotationTests.timeline(limit: 4)
    timeline.receive(1, 1, at: 0)
    for second in 1..<40 {
      timeline.receive(1, 1, at: Double(second))
      timeline.receive(1, UInt16(second % 29 + 2), at: Double(second) + 0.5, rssi: -40)
    }
    let inside = timeline.engine.standings().filter { $0.state == .inside }.map(\.region)
    #expect(inside.contains("venue") && inside.contains("floor1") && inside.contains("exhibit1.1"))
    let exits = timeline.story([.regionExit])
    #expect(!exits.contains { $0.contains("venue") || $0.contains("floor1") || $0.contains("exhibit1.1 ") })
    timeline.advance(to: 100)
    #expect(!timeline.engine.standings().contains { $0.state == .inside })
  }

  @Test("enter and exit alternate through all swaps")
  func alternate() {
    var timeline = RotationTests.timeline(limit: 3)
    for step in 0..<400 {
      timeline.receive(UInt16(step / 7 % 2 + 1), UInt16(step * 13 % 30 + 1), at: Double(step) * 0.7)
    }
    timeline.advance(to: 1_000)
    var isInside: [String: Bool] = [:]
    for event in timeline.events where event.kind == .regionEnter || event.kind == .regionExit {
      #expect(isInside[event.region] ?? false == (event.kind == .regionExit), "\(event.region)")
      isInside[event.region] = event.kind == .regionEnter
    }
    #expect(!isInside.values.contains(true))
  }

  @Test("replacing the tree keeps the state of nodes that stay the same")
  func replace() {
    var timeline = RotationTests.timeline(limit: 20)
    timeline.receive(1, 1, at: 0)
    let smaller = [RegionNode(region: Timeline.region("venue"))]
    timeline.apply(.setRotation(application: "museum", smaller), at: 1)
    timeline.advance(to: 10)
    #expect(timeline.states(of: "venue") == ["unknown>inside@0.0", "inside>outside@3.0"])
    #expect(timeline.states(of: "floor1") == ["unknown>inside@0.0"])
  }
}
