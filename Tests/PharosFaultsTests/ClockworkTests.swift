import PharosFaults
import Testing

@Suite("Virtual time")
struct ClockworkTests {
  @Test("work is done in order of its time, and at one instant in the order in which it was asked for")
  func order() {
    let clockwork = Clockwork()
    var done: [String] = []
    for (time, name) in [(5, "c"), (1, "a"), (5, "d"), (3, "b"), (9, "e")] as [(TrueTime, String)] {
      clockwork.at(time) { done.append("\(name)\(clockwork.now)") }
    }
    clockwork.run(through: 5)
    #expect(done == ["a1", "b3", "c5", "d5"])
    #expect(clockwork.now == 5)
    clockwork.run(through: 20)
    #expect(done.last == "e9")
    #expect(clockwork.now == 20)
  }

  @Test("an activity that takes time lets others go on, and the time of none goes back")
  func nested() {
    let clockwork = Clockwork()
    var done: [TrueTime] = []
    clockwork.at(1) {
      clockwork.run(through: 10)
      done.append(clockwork.now)
    }
    clockwork.at(4) { done.append(clockwork.now) }
    clockwork.run(through: 2)
    #expect(done == [4, 10])
    #expect(clockwork.now == 10)
  }

  @Test("a cancelled entry does not run")
  func callOff() {
    let clockwork = Clockwork()
    var done: [Int] = []
    for index in 0..<20 { clockwork.at(TrueTime(40 - index), owner: index % 2 + 1) { done.append(index) } }
    clockwork.callOff(1)
    clockwork.run(through: 100)
    #expect(done == Array(stride(from: 19, to: 0, by: -2)))
  }

  @Test("a thread does one thing after the other, however long each takes")
  func thread() {
    let clockwork = Clockwork()
    let thread = SerialThread(clockwork, owner: 1)
    var done: [String] = []
    thread.submit {
      done.append("first begins")
      clockwork.run(through: clockwork.now + 1_000_000_000)
      done.append("first ends")
    }
    thread.submit { done.append("second") }
    clockwork.run(through: 5_000_000_000)
    #expect(done == ["first begins", "first ends", "second"])
  }
}
