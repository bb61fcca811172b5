import PharosIngest
import Testing

@Suite("A listen address")
struct ListenAddressTests {
  @Test(
    "is read from text",
    arguments: [
      ("127.0.0.1:50001", "127.0.0.1", 50_001),
      ("[::1]:0", "::1", 0),
      ("[fe80::1%eth0]:6010", "fe80::1%eth0", 6_010),
      (":65535", "*", 65_535),
      ("*:50001", "*", 50_001),
      ("gateway.local:1", "gateway.local", 1),
    ]
  )
  func reads(text: String, host: String, port: Int) {
    #expect(ListenAddress(text) == ListenAddress(host: host, port: port))
  }

  @Test(
    "is refused where the text is ambiguous or has no port",
    arguments: [
      "", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "host:-1", "::1:50001", "[]:1", "a b:1", "[::1]",
    ]
  )
  func refuses(text: String) { #expect(ListenAddress(text) == nil) }

  @Test("a star is bound as the address that stands for all, and every other host as it is")
  func all() {
    #expect(["::", "0.0.0.0"].contains(ListenAddress.boundHost(of: "*")))
    for host in ["127.0.0.1", "::1", "localhost", "gateway.local", "0.0.0.0"] {
      #expect(ListenAddress.boundHost(of: host) == host)
    }
  }

  @Test("is written so that it can be read again")
  func describes() {
    #expect(ListenAddress(host: "0.0.0.0", port: 6_010).description == "udp 0.0.0.0:6010")
    #expect(ListenAddress(host: "::", port: 6_010).description == "udp [::]:6010")
    #expect(ListenAddress(descriptor: 3).description == "descriptor 3")
  }
}
