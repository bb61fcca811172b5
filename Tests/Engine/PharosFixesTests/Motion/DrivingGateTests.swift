import PharosFixes
import PharosModel
import Testing

@Suite("Driving")
struct DrivingGateTests {
  /// Each letter is a fix five seconds after the last: d 14 m/s, s 4 m/s, w 1 m/s, n none, x invalid, - no fix.
  @Test(
    "a driving subject is in no building until it clearly walks",
    arguments: [
      ("wwddww", "..DD.."), ("dsss", "DDDD"), ("ss", ".."), ("d------", "DDDDDD."), ("dnx", "DDD"),
      ("xn", ".."),
    ]
  )
  func gate(fixes: String, expected: String) {
    var gate = DrivingGate()
    var seen = ""
    for (index, letter) in fixes.enumerated() {
      let time = Timestamp(seconds: Int64(1_000 + 5 * index))
      let speeds: [Character: Float] = ["d": 14, "s": 4, "w": 1, "x": .nan]
      if letter != "-" {
        gate.update(
          OutsideFix(
            latitude: 48,
            longitude: 11,
            horizontalAccuracy: Meters(5),
            speed: speeds[letter],
            source: .gnss
          ),
          at: time
        )
      }
      seen += gate.isDriving(at: time + .seconds(1)) ? "D" : "."
    }
    #expect(seen == expected)
  }

  @Test("an impossible speed is ignored", arguments: [-3, 500, Float.infinity, .nan])
  func invalid(speed: Float) {
    var gate = DrivingGate()
    let fix = OutsideFix(
      latitude: 0,
      longitude: 0,
      horizontalAccuracy: Meters(5),
      speed: speed,
      source: .gnss
    )
    gate.update(fix, at: Timestamp(seconds: 1))
    #expect(!gate.isDriving(at: Timestamp(seconds: 1)))
  }
}
