extension VectorFile {
  /// All files whose payloads are adverts.
  static let all = [advlib, altbeacon, beacontools, bleMonitor, bluetoothDataTools, homeAssistant]

  private static let advlib = VectorFile(
    name: "advlib",
    rowCount: 130,
    frames: [
      1: ["iBeacon 00112233-4455-6677-8899-AABBCCDDEEFF/291/17767 -4"],
      76: ["URL https://getpareto.com 0"],
      77: ["EID 0011223344556677 -4"],
      120: ["URL http://reelyactive.com -97"],
      124: ["URL http://reelyactive.com -97"],
      127: ["URL http://reelyactive.com -97"],
    ],
    comparedFacts: 8,
    comparedSummaries: 3,
    exceptions: [1: "its `uri` is a page about iBeacons, not an address in the frame"]
  )

  private static let altbeacon = VectorFile(
    name: "altbeacon",
    rowCount: 22,
    frames: [
      2: ["altBeacon 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2 -59 of 0118 0"],
      3: ["altBeacon 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2 -59 of 0118 9"],
      4: ["altBeacon 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2 -59 of 0118 9"],
      5: ["altBeacon 01020304-0506-0708-090A-0B0C0D0E0F10/4370/4884 -59 of 0118 9"],
      6: ["altBeacon 01020304-0506-0708-090A-0B0C0D0E0F10/4370/4884 -59 of 0118 9"],
      7: ["altBeacon E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/4 -59 of bbaa 0"],
      8: ["URL http://google.com/ -25"],
      10: ["altBeacon 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2 -59 of 0118 9"],
      16: ["UID 00010203040506070809/010203040506 -25"],
      22: ["altBeacon 2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6/1/2 -59 of 0118 9"],
    ],
    comparedFacts: 19,
    comparedSummaries: 0,
    exceptions: [
      5: "the test sets a layout of its own, with a little-endian identifier",
      8: "the test sets a layout whose identifier is longer than the address, which is sound",
      20: "a layout of the test's own for exposure notifications, which are no beacon to us",
      21: "a layout of the test's own for exposure notifications, which are no beacon to us",
      22: "the test asks a parser of another layout to refuse an AltBeacon",
    ]
  )

  private static let beacontools = VectorFile(
    name: "beacontools",
    rowCount: 12,
    frames: [
      4: ["UID 12345678901234678901/000000000001 -29"],
      5: ["URL https://github.com/citruz -8"],
      6: ["TLM 2840 mV 19.0 °C 5223 10948"],
      7: ["TLM 2840 mV 71.06640625 °C 5223 10948"],
      9: ["EID 4549445f74657374 -29"],
    ],
    comparedFacts: 17,
    comparedSummaries: 0,
    exceptions: [
      6: "it gives the uptime as sent for seconds; the specification counts tenths of a second",
      7: "it gives the uptime as sent for seconds; the specification counts tenths of a second",
      8: "the structure's length (17) ends before the salt; it reads on, we take the length at its word",
    ]
  )

  /// Rows 83, 92 to 95 and 105 are sensors beside which an iBeacon frame stands; 155 is one inside the frame.
  private static let bleMonitor = VectorFile(
    name: "ble_monitor",
    rowCount: 188,
    frames: [
      83: ["iBeacon 494E5445-4C4C-495F-524F-434B535F4857/20597/62207 12"],
      92: ["iBeacon 9976AED5-F58C-49AF-85EB-D0AC7281E3F6/10011/19641 36"],
      93: ["iBeacon 9976AED5-F58C-49AF-85EB-D0AC7281E3F6/10011/19641 36"],
      94: ["iBeacon 9976AED5-F58C-49AF-85EB-D0AC7281E3F6/10011/19641 36"],
      95: ["iBeacon 9976AED5-F58C-49AF-85EB-D0AC7281E3F6/10011/19641 36"],
      105: ["iBeacon EBEFD083-70A2-47C8-9837-E7B5634DF525/25390/21813 -52"],
      138: ["URL https://ruu.vi/#AjwYAMFf -18"],
      155: ["iBeacon A495BB10-C5B1-4B44-B512-1370F02D74DE/68/1016 -59"],
    ],
    comparedFacts: 2,
    comparedSummaries: 0,
    exceptions: [155: "Tilt: the temperature that it reads from the major is no field of the frame"]
  )

  private static let bluetoothDataTools = VectorFile(
    name: "bluetooth_data_tools",
    rowCount: 12,
    frames: [6: ["iBeacon D546DF97-4757-47EF-BE09-3E2DCBDD0C77/5430/52681 -75"]],
    comparedFacts: 0,
    comparedSummaries: 16,
    exceptions: [:]
  )

  private static let homeAssistant = VectorFile(
    name: "homeassistant",
    rowCount: 6,
    frames: [
      1: ["iBeacon 426C7565-4368-6172-6D42-6561636F6E73/3838/4949 -59"],
      2: [
        "iBeacon 4E6F4E61-6D65-6172-6D42-6561636F6E73/3838/4949 -59",
        "TLM 3072 mV 28.0 °C 1640 14352",
      ],
      3: ["iBeacon 52616E64-4368-6172-6D42-6561636F6E73/3838/4949 -59"],
      4: ["iBeacon 74278BDA-B644-4520-8F0C-720EAF059935/0/23332 -59"],
      5: ["iBeacon FDA50693-A4E2-4FB1-AFCF-C6EB07647825/10065/26049 -3", "TLM 3206 mV - 37734 192910114"],
      6: ["iBeacon D546DF97-4757-47EF-BE09-3E2DCBDD0C77/60881/15314 -75", "TLM 3206 mV - 37734 192910114"],
    ],
    comparedFacts: 24,
    comparedSummaries: 0,
    exceptions: [:]
  )
}
