import PharosCaptures
import PharosIngest
import PharosModel
import PharosWire
import Testing

@Suite("The table of refused datagrams")
struct RefusalTableTests {
  let sender = IPAddress(v4: 0x0A00_0001)
  let start = Timestamp(seconds: 1_780_000_000)

  @Test("gives one line for a sender and reason, and a minute later one that says how many were kept quiet")
  func limitsLines() {
    var table = RefusalTable()
    #expect(
      table.record(.checksum, from: sender, at: start)
        == RefusalTable.Line(source: sender, reason: .checksum, suppressed: 0)
    )
    for second in 1..<60 {
      #expect(table.record(.checksum, from: sender, at: start + .seconds(Double(second))) == nil)
    }
    #expect(
      table.record(.checksum, from: sender, at: start + .seconds(60))
        == RefusalTable.Line(source: sender, reason: .checksum, suppressed: 59)
    )
    #expect(table.record(.checksum, from: sender, at: start + .seconds(61)) == nil)
    #expect(table.sources.map(\.count) == [62])
  }

  @Test("keeps reasons and senders apart")
  func keepsApart() {
    var table = RefusalTable()
    let other = IPAddress(v4: 0x0A00_0002)
    #expect(table.record(.checksum, from: sender, at: start) != nil)
    #expect(table.record(.tooShort, from: sender, at: start)?.reason == .tooShort)
    #expect(table.record(.checksum, from: other, at: start)?.source == other)
    #expect(table.sources.map(\.source) == [sender, other])
    #expect(table.sources.map(\.count) == [2, 1])
    #expect(table.sources.first?.lastReason == .tooShort)
  }

  @Test("writes only as many lines as fit, however many senders there are, and logs later what was left out")
  func survivesAFlood() {
    var table = RefusalTable(capacity: 64)
    let lines = (0..<20_000).count { number in
      table.record(.unrecognised, from: IPAddress(v4: UInt32(number)), at: start) != nil
    }
    #expect(lines == RefusalTable.linesPerPeriod)
    #expect(table.sources.count <= 64)
    #expect(table.evictions >= 20_000 - 64)
    let late = table.record(.unrecognised, from: IPAddress(v4: 19_999), at: start + .minutes(1))
    #expect(late?.suppressed == 1)
  }

  @Test("evicts the device with the longest silence")
  func forgetsTheOldest() {
    var table = RefusalTable(capacity: 8)
    for number in 0..<8 {
      _ = table.record(.empty, from: IPAddress(v4: UInt32(number)), at: start + .seconds(Double(number)))
    }
    _ = table.record(.empty, from: IPAddress(v4: 0), at: start + .seconds(8))
    _ = table.record(.empty, from: IPAddress(v4: 100), at: start + .seconds(9))
    let kept = Set(table.sources.map(\.source))
    #expect(!kept.contains(IPAddress(v4: 1)))
    #expect(kept.contains(IPAddress(v4: 0)))
    #expect(kept.contains(IPAddress(v4: 100)))
  }
}
