import PharosDocuments
import PharosModel
import PharosSecurity
import PharosTestSupport
import PharosWire
import Testing

/// A replay window without any cleverness: all that was taken, by boot and unwrapped number.
private struct ObviousWindow {
  private var accepted: Set<UInt64> = []
  private var bootID: UInt32?
  private var newest: UInt64 = 0

  /// The number that is meant, from its lowest 32 bits: the nearest one to the newest.
  private func unwrapped(_ sequence: UInt32) -> Int64 {
    let base = Int64(newest)
    return base + Int64(Int32(bitPattern: sequence &- UInt32(truncatingIfNeeded: newest)))
  }

  mutating func receive(bootID: UInt32, sequence: UInt32) -> DatagramRefusal? {
    if let known = self.bootID, bootID < known { return .olderBoot }
    if bootID != self.bootID {
      self.bootID = bootID
      // So that what was overtaken by the first of a boot has a number too.
      newest = UInt64(sequence) + 1 << 33
      accepted = [newest]
      return nil
    }
    let number = UInt64(bitPattern: unwrapped(sequence))
    guard number + UInt64(ReplayWindow.width) > newest else { return .replayed }
    guard accepted.insert(number).inserted else { return .replayed }
    newest = max(newest, number)
    return nil
  }
}

@Suite("The replay window")
struct ReplayWindowTests {
  /// The window as a whole: begins with the first datagram.
  private struct Window {
    var window: ReplayWindow?

    mutating func receive(bootID: UInt32, sequence: UInt32, uptime: TimeSpan = .zero) -> DatagramRefusal? {
      guard var window else {
        self.window = ReplayWindow(bootID: bootID, sequence: sequence, uptime: uptime)
        return nil
      }
      if let refusal = window.refusal(bootID: bootID, sequence: sequence, uptime: uptime) { return refusal }
      window.record(bootID: bootID, sequence: sequence, uptime: uptime)
      self.window = window
      return nil
    }
  }

  @Test("every order of a few numbers is taken once each, and no number twice")
  func smallOrders() {
    // All sequences of six steps over five numbers, two of them just inside and outside the width, around the wrap.
    let far = UInt32(ReplayWindow.width)
    for base in [0 as UInt32, 5, .max - 1, .max] {
      let numbers = [base, base &+ 1, base &- 1, base &- (far - 1), base &+ far]
      for code in 0..<15_625 {
        var window = Window()
        var model = ObviousWindow()
        var rest = code
        for _ in 0..<6 {
          let number = numbers[rest % 5]
          rest /= 5
          let (found, expected) = (
            window.receive(bootID: 1, sequence: number), model.receive(bootID: 1, sequence: number)
          )
          guard found == expected else {
            Issue.record("order \(code) from \(base): \(number) gave \(String(describing: found))")
            return
          }
        }
      }
    }
  }

  @Test(
    "any sequence of numbers and boots is judged as the obvious model does",
    arguments: Seeds.drawn(0..<40)
  )
  func drawn(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    var window = Window()
    var model = ObviousWindow()
    var boot: UInt32 = 7
    var next = seed % 3 == 0 ? UInt32.max - 500 : UInt32.random(in: 0...UInt32.max, using: &generator)
    for step in 0..<5_000 {
      switch Int.random(in: 0..<100, using: &generator) {
      case 0: boot &+= UInt32.random(in: 1...2, using: &generator)
      case 1: next &+= UInt32.random(in: 1...4_000, using: &generator)
      case 2..<60: next &+= 1
      default: break
      }
      let back =
        Int.random(in: 0..<100, using: &generator) < 60
        ? 0 : UInt32.random(in: 0...1_100, using: &generator)
      let older = Int.random(in: 0..<50, using: &generator) == 0 ? 1 as UInt32 : 0
      let (found, expected) = (
        window.receive(bootID: boot - older, sequence: next &- back),
        model.receive(bootID: boot - older, sequence: next &- back)
      )
      guard found == expected else {
        Issue.record(
          "step \(step): \(next &- back) gave \(String(describing: found)), not \(String(describing: expected))"
        )
        return
      }
    }
  }

  @Test("a datagram overtaken by as many as the width is accepted, by one more it is refused")
  func width() {
    for (overtaking, expected) in [(1_023, nil), (1_024, DatagramRefusal.replayed)] {
      var window = Window()
      _ = window.receive(bootID: 1, sequence: 100)
      for step in 1...overtaking { _ = window.receive(bootID: 1, sequence: 101 &+ UInt32(step)) }
      // 101 was overtaken; 102 to 101 + overtaking were taken.
      let refusal = window.receive(bootID: 1, sequence: 101)
      #expect(refusal == (overtaking == 1_023 ? nil : expected))
    }
  }

  @Test("numbers of half a round ago do not look new, since their uptime is old")
  func wrapAround() {
    var window = Window()
    #expect(window.receive(bootID: 1, sequence: 0, uptime: .seconds(1)) == nil)
    #expect(window.receive(bootID: 1, sequence: 1 << 30, uptime: .seconds(1e6)) == nil)
    #expect(window.receive(bootID: 1, sequence: 1 << 31, uptime: .seconds(2e6)) == nil)
    #expect(window.receive(bootID: 1, sequence: 3 << 30, uptime: .seconds(3e6)) == nil)
    // A round is complete: 5 is new, and the 1 << 30 of the first round is ahead again.
    #expect(window.receive(bootID: 1, sequence: 5, uptime: .seconds(4e6)) == nil)
    #expect(window.receive(bootID: 1, sequence: 1 << 30, uptime: .seconds(1e6)) == .replayed)
    #expect(window.receive(bootID: 1, sequence: 1 << 30, uptime: .seconds(5e6)) == nil)
  }

  @Test("the window's bytes give the same window")
  func bytes() throws {
    var window = ReplayWindow(bootID: 3, sequence: 17, uptime: .seconds(5))
    for number in [18, 20, 900, 15] as [UInt32] {
      window.record(bootID: 3, sequence: number, uptime: .seconds(6))
    }
    var writer = FieldWriter()
    window.write(to: &writer)
    #expect(writer.bytes.count == 144)
    var reader = FieldReader(writer.bytes[...])
    #expect(try ReplayWindow(from: &reader) == window)
    try reader.finish()
    for length in 0..<writer.bytes.count {
      var short = FieldReader(writer.bytes[..<length])
      #expect(throws: FieldError.self) { try ReplayWindow(from: &short) }
    }
  }
}
