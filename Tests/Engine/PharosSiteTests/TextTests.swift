import PharosDocuments
import PharosModel
import PharosSite
import PharosTestSupport
import Testing

@Suite("Times, sizes and addresses as people write them")
struct TextTests {
  @Test(
    "a time is a number and its unit",
    arguments: [
      ("350ms", 350_000_000), ("3s", 3_000_000_000), ("5m", 300_000_000_000), ("1h", 3_600_000_000_000),
      ("1.5s", 1_500_000_000), ("0s", 0), ("2d", 172_800_000_000_000), ("10us", 10_000), ("7ns", 7),
    ]
  )
  func readsTimes(text: String, nanoseconds: Int64) {
    #expect(TimeSpan(written: text)?.nanoseconds == nanoseconds)
    #expect(TimeSpan(written: TimeSpan(nanoseconds: nanoseconds).written)?.nanoseconds == nanoseconds)
  }

  @Test(
    "a time without unit, number or end is refused",
    arguments: ["", "3", "s", "-3s", "3 s", "1e3s", "3sec", ".5s", "5.s", "1.2.3s", "999999999999d", "infs"]
  )
  func refusesOtherTimes(text: String) {
    #expect(TimeSpan(written: text) == nil)
  }

  @Test(
    "addresses are read and written",
    arguments: ["127.0.0.1:50001", "[::1]:1", "gateway.local:0", "0.0.0.0:65535", "*:50001"]
  )
  func addresses(text: String) {
    #expect(HostPort(text)?.description == text)
  }

  @Test(
    "an invalid address is refused",
    arguments: ["", ":1", "a", "a:", "a:65536", "::1:5", "a b:1", "a:-1", "a:+1"]
  )
  func noAddresses(text: String) {
    #expect(HostPort(text) == nil)
  }

  @Test("a time that is written exactly is read back to the nanosecond", arguments: Seeds.drawn(0..<20))
  func exactTimes(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for unit in [1, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000, 86_400_000_000_000] as [Int64] {
      let time = TimeSpan(nanoseconds: Int64.random(in: 0...100_000, using: &random) * unit)
      #expect(TimeSpan(written: time.exactlyWritten) == time)
    }
    #expect(TimeSpan.seconds(90).exactlyWritten == "90s")
    #expect(TimeSpan.minutes(60).exactlyWritten == "1h")
    #expect(TimeSpan.zero.exactlyWritten == "0s")
  }

  @Test(
    "a size is a number and its unit",
    arguments: [
      ("500MB", 500_000_000), ("1.5GB", 1_500_000_000), ("10GiB", 10_737_418_240), ("1kB", 1_000),
      ("2TB", 2_000_000_000_000), ("0MB", 0), ("4KiB", 4_096),
    ]
  )
  func sizes(text: String, bytes: Int64) {
    #expect(ByteCount.read(text) == bytes)
  }

  @Test(
    "an invalid size is refused",
    arguments: ["", "5", "GB", "-1GB", "1 GB", "1e3GB", ".5GB", "9999999999TB"]
  )
  func noSizes(text: String) {
    #expect(ByteCount.read(text) == nil)
  }

  @Test(
    "a size is written in the largest unit",
    arguments: [(0, "0 bytes"), (999, "999 bytes"), (1_500, "1.5 kB"), (10_000_000_000, "10 GB")]
  )
  func reportedSizes(bytes: Int64, text: String) {
    #expect(ByteCount.text(bytes) == text)
  }

  @Test("an escape sequence in a name does not reach the terminal")
  func cleansControls() {
    #expect(PlainText.clean("a\u{1B}[2Jb\u{202E}") == "a·[2Jb·")
  }
}
