import PharosDocuments
import PharosModel
import PharosSimulation
import PharosSpace
import Testing

@Suite("Truth")
struct TruthTests {
  @Test(
    "positions are those of the paths, once a second while something moves",
    arguments: [Scene.museumVisit, .demo]
  )
  func positions(scene: Scene) throws {
    let playback = Playback(scene)
    var committed: [String: [Double]] = [:]
    for event in playback.truth {
      guard case .position(let point) = event.fact else { continue }
      let elapsed = event.time - scene.start
      let path =
        scene.transmitters.first { $0.name == event.name }?.path
        ?? scene.observers.first { $0.id.description == event.name }?.path
      #expect(path?.position(at: elapsed) == point)
      committed[event.name, default: []].append(elapsed.seconds)
    }
    #expect(committed.count == scene.transmitters.count + scene.observers.count)
    for (name, times) in committed {
      #expect(times.first == 0, "\(name) is somewhere from the begin")
      #expect(times.allSatisfy { $0 == $0.rounded() })
      #expect(Set(times).count == times.count)
    }
  }

  @Test("a subject enters an area from outside, and leaves it from inside", arguments: Scene.builtIn)
  func areas(scene: Scene) throws {
    var inside: Set<String> = []
    for event in Playback(scene).truth {
      switch event.fact {
      case .entersArea(let area): #expect(inside.insert(event.name + "|" + area).inserted)
      case .leavesArea(let area): #expect(inside.remove(event.name + "|" + area) != nil)
      default: break
      }
    }
  }

  @Test(
    "range is where distance and walls alone reach the sensitivity",
    arguments: [Scene.gatewayOutage, .noisyDoorway]
  )
  func ranges(scene: Scene) throws {
    var inRange: Set<String> = []
    var changes = 0
    for event in Playback(scene).truth {
      let entered: (ObserverID, Bool)? =
        switch event.fact {
        case .entersRange(let observer): (observer, true)
        case .leavesRange(let observer): (observer, false)
        default: nil
        }
      guard let (id, isIn) = entered else { continue }
      changes += 1
      let key = "\(event.name)|\(id)"
      #expect(isIn ? inRange.insert(key).inserted : inRange.remove(key) != nil)
      let transmitter = try #require(scene.transmitters.first { $0.name == event.name })
      let observer = try #require(scene.observers.first { $0.id == id })
      let level = scene.expectedLevel(of: transmitter, at: observer, time: event.time - scene.start)
      #expect((level >= observer.sensitivity) == isIn)
      #expect(event.subject == .beacon(transmitter.beacon))
    }
    #expect(changes > 5)
  }

  @Test("a beacon that falls silent leaves every range")
  func onAir() throws {
    var tag = Bench.transmitter()
    tag.onAir = TimeWindow(from: .seconds(2), until: .seconds(5))
    let truth = Playback(Bench.scene(seconds: 8, transmitters: [tag])).truth
    let facts = truth.filter { if case .position = $0.fact { false } else { true } }
    #expect(
      facts.map(\.fact) == [
        .entersRange(observer: Bench.observerID), .leavesRange(observer: Bench.observerID),
      ]
    )
    #expect(facts.map { ($0.time - Scene.defaultStart).seconds } == [2, 5])
  }

  @Test("each truth event is a line of JSON")
  func json() {
    var json = JSONText()
    let time = Scene.defaultStart + .milliseconds(1_500)
    let observer = Bench.observerID
    let facts: [TruthEvent.Fact] = [
      .position(Point(x: 1.23456, y: -2)), .entersArea("hall"), .leavesRange(observer: observer),
      .fails(.power),
    ]
    for fact in facts {
      TruthEvent(time: time, subject: .observer(observer), name: "a \"name\"", fact: fact).write(to: &json)
    }
    let head = #"{"time":"2026-01-01T09:00:01.500000000Z","kind":""#
    let who = #""subject":"ac:23:3f:a0:00:ff","name":"a \"name\"""#
    #expect(
      json.text == """
        \(head)position",\(who),"x":1.235,"y":-2}
        \(head)area.enter",\(who),"area":"hall"}
        \(head)range.leave",\(who),"observer":"ac:23:3f:a0:00:ff"}
        \(head)observer.fail",\(who),"fault":"power"}

        """
    )
  }
}
