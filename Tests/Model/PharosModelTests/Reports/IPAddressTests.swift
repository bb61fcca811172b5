import PharosModel
import Testing

/// Addresses as text, the way `inet_ntop` writes them.
@Suite("IP addresses as text")
struct IPAddressTests {
  @Test(
    "IPv6 leaves out the first of the longest runs of zeros",
    arguments: [
      (0, 0, "::"), (0, 1, "::1"), (0x2001_0DB8_0000_0000, 1, "2001:db8::1"),
      (0xFF02_0000_0000_0000, 0x0001_0006, "ff02::1:6"),
      (0xFE80_0000_0000_0000, 0x68D3_1235_D068_1F9E, "fe80::68d3:1235:d068:1f9e"),
      (0x2001_0000_0000_0001, 0x0000_0000_0001_0001, "2001::1:0:0:1:1"),
      (0x2001_0DB8_0000_0001, 0x0001_0001_0001_0001, "2001:db8:0:1:1:1:1:1"),
      (0x0001_0002_0003_0004, 0x0005_0006_0007_0000, "1:2:3:4:5:6:7:0"), (0x0001_0000_0000_0000, 0, "1::"),
      (0, 0xFFFF_0A00_0001, "::ffff:10.0.0.1"), (0, 0x0A00_0001, "::10.0.0.1"), (1, 0, "0:0:0:1::"),
    ] as [(UInt64, UInt64, String)]
  )
  func text(high: UInt64, low: UInt64, text: String) {
    let address = IPAddress(v6: high, low)
    #expect(address.description == text)
    #expect(IPAddress(text) == address)
  }

  @Test("IPv4 is dotted decimal, and an endpoint puts IPv6 into brackets")
  func endpoints() throws {
    let address = try #require(IPAddress("192.0.2.255"))
    #expect(address == IPAddress(v4: 0xC000_02FF))
    #expect(Endpoint(address, port: 9).description == "192.0.2.255:9")
    #expect(address.asV6.description == "::ffff:192.0.2.255")
    #expect(address.asV6.asV6 == address.asV6)
    #expect(Endpoint(try #require(IPAddress("::1")), port: 9).description == "[::1]:9")
  }

  @Test(
    "a text that is no address is refused",
    arguments: [
      "", ":", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "1.2.3", "1.2.3.256",
      "1.2.3.+4", "1:2:3:4:5:6:7:8::", ":1::", "1:", "::1.2.3", "::1.2.3.256", "1.2.3.4::",
      "1:2:3:4:5:6:7:1.2.3.4",
      "::1.2.3.4:5",
    ]
  )
  func refused(text: String) { #expect(IPAddress(text) == nil) }
}
