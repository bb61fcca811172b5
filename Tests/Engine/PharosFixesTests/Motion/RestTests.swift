import PharosFixes
import PharosModel
import Testing

@Suite("Rest")
struct RestTests {
  @Test("a rest is reported in consecutive parts, from its beginning")
  func parts() throws {
    let walk = DrawnWalk(legs: [.ahead(0, for: 5), .rest(0, for: 20), .ahead(0, for: 5)])
    let movements = MotionTracker.movements(of: walk.samples([.accelerometer]))
    var until: Timestamp?
    for case .still(let from, let to) in movements {
      #expect(to > from)
      if let until { #expect(from == until) }
      until = to
    }
    // The scatter of the walk needs two seconds to fade.
    #expect(movements.rest > 16 && movements.rest <= 20)
    #expect(zip(movements, movements.dropFirst()).allSatisfy { $0.time <= $1.time })
  }

  @Test("a walk is no rest")
  func walking() {
    let walk = DrawnWalk(legs: [.ahead(0, for: 60)])
    #expect(MotionTracker.movements(of: walk.samples([.accelerometer])).rest == 0)
  }

  @Test("a pause of the sensor is no rest")
  func gap() {
    let walk = DrawnWalk(legs: [.rest(0, for: 3)]).samples([.accelerometer])
    let later = walk.map { (time: $0.time + .seconds(60), sample: $0.sample) }
    let movements = MotionTracker.movements(of: walk + later)
    #expect(movements.rest > 3.5 && movements.rest < 6)
  }
}
