import Foundation
import PharosIngest
import Testing

@Suite("Errors of a start of ingest")
struct IngestErrorTests {
  static let address = ListenAddress(host: "0.0.0.0", port: 6_010)

  @Test(
    "says what, where, why and what to do",
    arguments: [
      (
        IngestError.cannotListen(address, reason: .addressInUse),
        "cannot listen on udp 0.0.0.0:6010: address in use. Another process holds the port; change listen.udp or "
          + "stop it."
      ),
      (
        .cannotListen(ListenAddress(host: "127.0.0.1", port: 53), reason: .notPermitted),
        "cannot listen on udp 127.0.0.1:53: permission denied. Ports below 1024 need the capability "
          + "CAP_NET_BIND_SERVICE; choose a higher one or let systemd open the socket."
      ),
      (
        .cannotListen(ListenAddress(host: "192.0.2.1", port: 1), reason: .addressNotAvailable),
        "cannot listen on udp 192.0.2.1:1: address not available. No interface of this machine has it; see "
          + "`ip address`, or use 0.0.0.0 for all."
      ),
      (
        .cannotListen(ListenAddress(host: "::1", port: 1), reason: .versionNotSupported),
        "cannot listen on udp [::1]:1: address family not supported. The kernel runs without IPv6; use an IPv4 "
          + "address such as 0.0.0.0."
      ),
      (
        .cannotListen(address, reason: .system(errno: EMFILE)),
        "cannot listen on udp 0.0.0.0:6010: Too many open files (errno \(EMFILE))."
      ),
      (
        .notADatagramSocket(descriptor: 3),
        "cannot listen on descriptor 3: it is no UDP socket. "
          + "Write ListenDatagram= in the socket unit, not ListenStream=."
      ),
      (
        .outOfRange(setting: "loops", value: 0, range: 1...16),
        "loops is 0, expected 1 to 16."
      ),
      (
        .nothingToListenAt,
        "nothing to listen at: give at least one address, such as listen: { udp: [\"127.0.0.1:50001\"] }."
      ),
      (
        .overloaded(waiting: 256),
        "256 requests wait for the loops to catch up, and no further ones are accepted. Ask again in a moment, or send less."
      ),
      (.stopped, "the server has stopped and accepts no changes. Start it again."),
    ]
  )
  func prose(error: IngestError, text: String) { #expect("\(error)" == text) }
}
