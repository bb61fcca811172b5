import PharosTerminal
import Testing

@Suite("Addresses in log lines")
struct LogPrivacyTests {
  @Test(
    "six octets are hidden wherever they stand, and nothing else is",
    arguments: [
      ("beacons added: mac:ac:23:3f:00:00:01, E2C5/1/2", "beacons added: mac:(address), E2C5/1/2"),
      ("\"AC-23-3F-00-00-01\" occurs twice", "\"(address)\" occurs twice"),
      ("ac:23:3f:00:00:01", "(address)"),
      ("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2"),
      ("at 12:30:00 on line 7", "at 12:30:00 on line 7"),
      ("ac:23:3f:00:00", "ac:23:3f:00:00"),
      ("00:11:22:33:44:55:66:77 is an EUI-64", "00:11:22:33:44:55:66:77 is an EUI-64"),
      ("", ""),
    ]
  )
  func hides(text: String, shown: String) { #expect(LogPrivacy.hidden(text) == shown) }
}
