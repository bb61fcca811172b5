import Foundation
import PharosCaptures
import PharosIngest
import PharosModel
import PharosSite
import PharosTerminal
import PharosTools
import PharosWire
import Testing

@Suite("The screen of listen")
struct HeardScreenTests {
  private let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)

  /// Every other one is an iBeacon, every third has a name that means harm.
  private func beacon(_ index: Int) -> HeardBeacon {
    let identity = BeaconID.proximity(uuid, major: 60_000, minor: UInt16(index))
    return HeardBeacon(
      observer: .eui48(0xAC23_3FA0_0001),
      address: DeviceAddress(bits: UInt64(index), kind: .random),
      identities: index % 2 == 0 ? [identity] : [],
      name: index % 3 == 0 ? "a\u{1B}[31mb" : nil,
      rssi: RSSI(dBm: -61),
      firstHeard: Timestamp(seconds: 1),
      lastHeard: Timestamp(seconds: 900),
      advertsPerSecond: nil
    )
  }

  private func snapshot(beacons: Int) -> IngestSnapshot {
    var snapshot = IngestSnapshot()
    snapshot.time = Timestamp(seconds: 1_000)
    snapshot.heard.observers = [
      HeardObserver(
        id: .name(String(repeating: "gateway ", count: 7)),
        source: Endpoint(IPAddress(v6: 0xFD07_1111_2222_3333, 0x4444_5555_6666_7777), port: 50_001),
        format: .raddec,
        firstHeard: Timestamp(seconds: 990),
        lastHeard: Timestamp(seconds: 999),
        reportsPerSecond: 12_345.6
      )
    ]
    for index in 0..<beacons { snapshot.heard.beacons.append(beacon(index)) }
    return snapshot
  }

  @Test("no line is wider than 80 columns, and no escape sequence comes through")
  func widths() {
    let screen = HeardScreen(site: Site(), style: .plain)
    let lines = screen.lines(snapshot(beacons: 30))
    #expect(lines.count > 30)
    #expect(lines.allSatisfy { $0.count <= 80 && !$0.contains("\u{1B}") })
  }

  @Test("a terminal shows the strongest, and says how many more there are")
  func terminal() {
    let style = TerminalStyle(isTerminal: true, usesColor: false, width: 80)
    let lines = HeardScreen(site: Site(), style: style).lines(snapshot(beacons: 100))
    #expect(lines.count < 40)
    #expect(lines.contains("and 76 more"))
  }

  @Test("a pipe receives each observer and transmitter once, as JSON")
  func news() throws {
    var known: Set<String> = []
    let heard = snapshot(beacons: 5).heard
    let lines = ListenRunner.news(heard, known: &known)
    #expect(lines.count == 6)
    for line in lines { _ = try JSONSerialization.jsonObject(with: Data(line.utf8)) }
    #expect(ListenRunner.news(heard, known: &known).isEmpty)
  }
}
