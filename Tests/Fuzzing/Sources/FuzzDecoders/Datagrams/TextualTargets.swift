import FuzzSupport
import PharosReports
import PharosWire

/// JSON as gateways and apps send it.
final class JSONDatagramsTarget: FuzzTarget {
  static let name = "json"
  static let longest = 2_048

  private var check = DatagramCheck()

  func take(_ input: RawSpan) {
    _ = check.decode(input, as: JSONFormat.self)
    check.forget()
  }

  static var words: [[UInt8]] {
    let names = JSONField.allCases.flatMap { $0.names.map { "\"\($0)\":" } }
    let more = [
      "\"\\u00e9", "\\ud83d\\ude00", "true", "false", "null", "-1e9", "{\"", "\"}", "[{", "}]", "4c000215",
      "iBeacon:",
    ]
    return (names + more).map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] { texts.map { Array($0.utf8) } }

  static let texts = [
    #"{"observer":"ac:23:3f:a0:00:01","address":"c4:be:84:e7:ec:3e","rssi":-58,"data":"020106"}"#,
    """
    {"observer": "hall", "bootId": 3, "sequence": 17, "uptime": 93000,
     "adverts": [{"address": "c4:be:84:e7:ec:3e", "addressType": "random", "rssi": -58, "age": 120, "data": "020106"}],
     "rangedBeacons": [{"uuid": "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "major": 1, "minor": 7, "accuracy": 1.5}],
     "scanState": "foreground", "heartbeat": {"advertsHeard": 250, "scanDuty": 0.5}, "displayOn": true,
     "wifiScan": [{"bssid": "00:11:22:33:44:55", "rssi": -70, "frequency": 2437, "lastHeard": 900}],
     "motion": [{"kind": "step", "age": 250, "x": 0.75, "y": 1.5}],
     "fix": {"latitude": 47.375, "longitude": 8.5, "accuracy": 12, "speed": 1.25, "source": "gnss"}}
    """,
    """
    [{"transmitterId":"a4c138bf6fab","transmitterIdType":2,"rssiSignature":[{"receiverId":"001bc50940810001",\
    "receiverIdType":1,"numberOfDecodings":1,"rssi":-49}],"timestamp":1612150079789,"packets":["000bab6fbf38c1a40409475648"]}]
    """,
    """
    {"gw":"AA:BB:CC:DD:EE:FF","id":"11:22:33:44:55:66","rssi":-70,"mfid":"4c00","name":"caf\\u00e9 \\ud83d\\ude00",\
    "manufacturerdata":"4c0002155e5c"}
    {"room":"kitchen","mac":"5c1a112233ff","id":"iBeacon:e5ca1ade-f007-ba11-0000-000000000000-1-2","rssi":-60.4,"distance":1.25}
    """,
    """
    {"data": {"coordinates": "", "timestamp": "1653633988", "nonce": "2636366621", "gw_mac": "C8:25:2D:8E:9C:2C", "tags": {
      "D4:15:5C:77:56:68": {"rssi": -41, "timestamp": "1653633987", "data": "0201061BFF9904050F"},
      "C4:BE:84:E7:EC:3E": {"rssi": -77, "timestamp": "1653633980", "data": "020106"}}}}
    """,
  ]
}

/// Lines of Ingics gateways.
final class IngicsTarget: FuzzTarget {
  static let name = "ingics"
  static let longest = 1_024

  private var check = DatagramCheck()

  func take(_ input: RawSpan) {
    _ = check.decode(input, as: IngicsFormat.self)
    check.forget()
  }

  static var words: [[UInt8]] {
    [
      "$GPRP,", "$RSPR,", "$LRAD,", "$LRSR,", "$1MAD,", "$HBRP,", "$GPSR,", "0C61CFC1452E", ",-44,", "\r\n",
      ",1574921085.25",
    ]
    .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    [
      "$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,0201061AFF4C000215B9A5D27D56CC4E3AAB511F2153BCB9670001452ED6",
      "$GPRP,E5A706E3923A,CB412F0C8EDC,-87,0201041AFF590002150112233445566778899AABBCCDDEEFF0000100C3BB,1574921085",
      "$HBRP,FECE97089146,FECE97089146,-127,00000000\r\n",
      """
      $RSPR,CCB97E7361A4,CB412F0C8EDC,-49,0309414203FFFFFF,1574921085\r
      $LRAD,51A88AD374B7,CC4B73906F96,-87,0201020201,1574921085.25\r
      $GPSR,C82B96AE3B04,C82B96AE3B04,-127,200608,073549.00,-24.993477,121.422981,0.0,3.5,1591609841\r

      """,
    ]
    .map { Array($0.utf8) }
  }
}
