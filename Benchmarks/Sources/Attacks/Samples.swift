import PharosModel
import PharosWire
import ServedProcess

/// One good datagram of each format, to be spoilt.
struct Samples {
  var name: String
  var bytes: [UInt8]

  static let all: [Samples] = [
    Samples(name: "pharos", bytes: Gateway(.eui48(0x0200_0000_0001), key: nil).datagram([Gateway.plain])),
    Samples(name: "raddec", bytes: hex("10001702aabbccddeeff2b010001bb02001bc50940810000000000aa")),
    Samples(
      name: "json",
      bytes: Array(
        "{\"observer\":\"02:00:00:00:00:02\",\"mac\":\"aa:bb:cc:dd:ee:ff\",\"rssi\":-60,\"data\":\"020106\"}"
          .utf8
      )
    ),
    Samples(name: "ingics", bytes: Array("$GPRP,AABBCCDDEEFF,020000000003,-60,020106\r\n".utf8)),
    Samples(name: "huawei", bytes: hex("485700020000000004000001aabbccddeeff5e0be100c4000003020106")),
    Samples(name: "minew", bytes: hex("bb010000001c0200000000050001aabbccddeeff00010302010606c4dd")),
  ]

  private static func hex(_ text: String) -> [UInt8] {
    let digits = text.utf8.map { UInt8(String(UnicodeScalar($0)), radix: 16) ?? 0 }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
