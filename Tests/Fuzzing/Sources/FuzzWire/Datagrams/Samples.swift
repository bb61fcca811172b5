import PharosDocuments
package import PharosModel
package import PharosWire

/// Whole valid datagrams of every format.
package enum Samples {
  /// The datagrams of a format, by its name: those of a new one are an entry here.
  package static func vectors(of format: any DatagramFormat.Type) -> [[UInt8]] { byFormat[format.name] ?? [] }

  private static let byFormat: [String: [[UInt8]]] = [
    "raddec": raddec, "pharos": pharos, "json": json + ruuvi + vendorJSON, "ingics": ingics, "huawei": huawei,
    "minew": minew, "mqtt": mqtt, "minew-connect": minewConnect, "april-brother": aprilBrother,
    "hci-text": hciText,
  ]

  /// The four vectors of `test/unit/raddec.test.js` in reelyactive/raddec, and one composed of their parts
  /// with an iBeacon.
  package static let raddec: [[UInt8]] = [
    "10001702aabbccddeeff013a0101001bc509408100000b",
    "10000c02aabbccddeeff0019",
    "10002902aabbccddeeff02550101001bc50940810001350401001bc50940810000f0014aa31759006c",
    "100034053074257bf7194e4000001a85012f0102001122334455f3c052648ede54b48d4046c122a6f3f5307fffffffffffffff05",
    """
    10004702aabbccddeeff013b0301001bc50940810000f0014aa2cab000f101264224ffeeddccbbaa\
    0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c57b
    """,
  ]
  .compactMap { Hex.bytes($0) }

  package static let ingics: [[UInt8]] = [
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

  package static let huawei: [[UInt8]] = [
    """
    48570124a52cffffff000002 0a0b0c0d0e0f 5e0be100 c4 0000 1e
    0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5
    001122334455 5e0be101 7f 0000 00
    """,
    "485701 000000000001 0000 00",
  ]
  .compactMap { Hex.bytes($0.filter { !$0.isWhitespace }) }

  package static let minew: [[UInt8]] = [
    """
    bb01 00000049 0a0b0c0d0e0f 0002
    c0010203 0405 0002 1e 0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5 02 c4
    00 04 7f
    0000aa55aa55 0001 03 020106 00 d9
    dd
    """,
    "bb01 0000000f 00000000000a 0000 dd",
  ]
  .compactMap { Hex.bytes($0.filter { !$0.isWhitespace }) }

  /// A frame of MINEW-CONNECT with one advert.
  package static let minewConnect: [[UInt8]] = [
    """
    bb02 00000000 3e000000 30000000 843e 2a000000 2800 01 01 c300000a0b0c c3
    1e 0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010007c5
    """
  ]
  .compactMap { Hex.bytes($0.filter { !$0.isWhitespace }) }

  /// A map of April Brother's gateway with one device, and one without any.
  package static let aprilBrother: [[UInt8]] = [
    """
    83 a3 6d6163 ac 414332333346433046464545 a4 74696d65 cd 0181 a7 64657669636573 91
    c4 26 03 c300000a0b0c c3 0201061aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010007c5
    """,
    "82 a3 6d6163 ac 414332333346433046464545 a7 64657669636573 90",
  ]
  .compactMap { Hex.bytes($0.filter { !$0.isWhitespace }) }

  /// HCI events in digits: a legacy report and an extended one.
  package static let hciText: [[UInt8]] = [
    "043E2A020103010C0B0A0000C31E0201061AFF4C000215E2C56DB5DFFB48D2B060D0F5A71096E000010007C5C3",
    "043E1D0D011300010C0B0A0000C30100FF7FC3000000000000000000" + "03020106",
  ]
  .map { Array($0.utf8) }

  /// What Cassia's, MOKOSmart's and Cisco Meraki's gateways send.
  package static let vendorJSON: [[UInt8]] = [
    #"{"bdaddrs":[{"bdaddr":"C3:00:00:0A:0B:0C","bdaddrType":"random"}],"chipId":0,"evtType":0,"rssi":-61,"#
      + #""adData":"020106","scanData":"03095461","name":"(unknown)","ap":"CC:1B:E0:00:00:01"}"#,
    #"{"msg_id":3070,"device_info":{"mac":"ac233fc0ffee"},"data":[{"timestamp":1760000000123,"mac":"c300000a0b0c","#
      + #""rssi":-61,"connectable":1,"adv_data":"020106","rsp_data":""}]}"#,
    #"{"msg_id":3004,"device_info":{"mac":"ac233fc0ffee"},"data":[{"value":{"mac":"c300000a0b0c","rssi":-61,"#
      + #""raw":"020106"}}]}"#,
    #"{"msg_id":3003,"device_info":{"mac":"ac233fc0ffee"},"data":{"net_state":"online"}}"#,
    #"{"version":"3.0","type":"Bluetooth","data":{"networkId":"L_1","reportingAps":[{"mac":"a8:46:9d:00:00:01"}],"#
      + #""observations":[{"clientMac":"c3:00:00:0a:0b:0c","bleBeacons":[{"bleType":"ibeacon","rawData":"020106"}],"#
      + #""latestRecord":{"time":"2025-10-09T08:53:40Z","nearestApMac":"a8:46:9d:00:00:01","nearestApRssi":-61}}]}}"#,
    #"{"meta":{"version":"1","access_token":"t","nbTopic":"telemetry"},"reporter":{"name":"hall","mac":"204c03000001","#
      + #""time":"1800000060"},"reported":[{"mac":"c300000a0b0c","deviceClass":["iBeacon"],"lastSeen":"1800000058","#
      + #""rssi":{"last":-61},"beacons":[{"ibeacon":{"uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":7,"power":-59}}]},"#
      + #"{"mac":"c300000a0b0d","deviceClass":["arubaTag"],"lastSeen":1800000000,"rssi":{"avg":-70.4}},"#
      + #"{"mac":"c300000a0b0e","beacons":[{"eddystone":{"power":0,"uid":{"nid":"00112233445566778899","bid":"aabbccddeeff"}}}]}]}"#,
    #"{"v":"1.5.3","mid":7,"time":12,"ip":"10.0.0.5","mac":"AC233FC0FFEE","rssi":-40,"#
      + #""devices":["03C300000A0B0CC3020106",[0,"C300000A0B0D",-62,"020106"],"03C3"]}"#,
    #"{"v":"1.5.3","mid":8,"mac":"AC233FC0FFEE","devices":[]}"#,
    // Protocol Buffers write bytes in base64, and leave an empty list out.
    #"{"reporter":{"mac":"IEwDAAAB","time":"1800000060"},"reported":[{"mac":"wwAACgsM","lastSeen":"1800000058","#
      + #""rssi":{"last":-61},"beacons":[{"ibeacon":{"uuid":"4sVttd/7SNKwYND1pxCW4A==","major":1,"minor":7}},"#
      + #"{"eddystone":{"uid":{"nid":"ABEiM0RVZneImQ==","bid":"qrvM3e7\/"}}}]}]}"#,
    #"{"reporter":{"mac":"204c03000001","time":"1800000060"}}"#,
    #"{"msg":"advData","gmac":"AC233FC0FFEE","seq":2896,"obj":[{"dmac":"C300000A0B0C","rssi":"-61","data1":"020106"},"#
      + #"{"type":1,"dmac":"C300000A0B0D","rssi":-62,"uuid":"e2c56db5dffb48d2b060d0f5a71096e0","majorID":1,"minorID":7,"#
      + #""refpower":-59,"time":"2025-10-09T08:53:40Z"}]}"#,
    #"{"msg":"advData","gmac":"AC233FC0FFEE","seq":2897,"obj":[]}"#,
    #"{"gwId":"AC233FC0FFEE","beacons":[{"bdaddr":"c3:00:00:0a:0b:0c","rssi":-61,"battery":85,"#
      + #""ibeacon":[{"uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":0,"minor":7,"measuredPower":-54,"accuracy":6.5}],"#
      + #""eddystone":{"tlm":{"battery":2835},"uid":[{"measuredPower":-13,"uid":"00112233445566778899aabbccddeeff"}]}}]}"#,
  ]
  .map { Array($0.utf8) }

  /// What Ruuvi gateways post, one with whole seconds as text and one without times.
  package static let ruuvi: [[UInt8]] = [
    """
    {"data": {"coordinates": "", "timestamp": "1653633988", "nonce": "2636366621", "gw_mac": "C8:25:2D:8E:9C:2C", "tags": {
      "D4:15:5C:77:56:68": {"rssi": -41, "timestamp": "1653633987", "data": "0201061BFF9904050F"},
      "C4:BE:84:E7:EC:3E": {"rssi": -77, "timestamp": "1653633980", "data": "020106"}}}}
    """,
    #"{"data": {"nonce": "1", "gw_mac": "C8:25:2D:8E:9C:2C", "tags": {}}}"#,
  ]
  .map { Array($0.utf8) }

  package static let json: [[UInt8]] = [
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
  ]
  .map { Array($0.utf8) }

  /// Messages as gateways publish them, by topic and payload.
  ///
  /// - Source: those that the article "MQTT topics" names, with addresses and identities of our own.
  package static let messages: [(topic: String, payload: [UInt8])] =
    [
      (
        "home/OpenMQTTGateway/BTtoMQTT/582D34112233",
        #"{"id":"58:2D:34:11:22:33","mac_type":1,"rssi":-79,"brand":"GENERIC","model_id":"IBEACON","mfid":"4c00","#
          + #""uuid":"e2c56db5dffb48d2b060d0f5a71096e0","major":1,"minor":7,"txpower":-66}"#
      ),
      (
        "home/TheengsGateway/BTtoMQTT/112233445566",
        #"{"id":"11:22:33:44:55:66","rssi":-70,"name":"tag","manufacturerdata":"4c000215aa"}"#
      ),
      ("home/OpenMQTTGateway/SYStoMQTT", #"{"uptime":120,"version":"v1.7.0","rssi":-57,"modules":["BT"]}"#),
      ("home/OpenMQTTGateway/LWT", "online"),
      ("home/TheengsGateway/LWT", "offline"),
      (
        "espresense/devices/iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-7/office",
        #"{"mac":"dd8800112233","id":"iBeacon:e2c56db5-dffb-48d2-b060-d0f5a71096e0-1-7","rssi@1m":-59,"rssi":-81.10,"#
          + #""rxAdj":0,"rssiVar":7.42,"distance":6.50,"var":4.00,"int":2028}"#
      ),
      (
        "espresense/rooms/office/telemetry",
        #"{"ip":"10.0.0.7","uptime":15,"firm":"esp32","rssi":-48,"adverts":812,"seen":40,"reported":36}"#
      ),
      ("espresense/rooms/office/status", "online"),
      (
        "ruuvi/C8:25:2D:8E:9C:2C/D4:15:5C:77:56:68",
        #"{"gw_mac":"C8:25:2D:8E:9C:2C","rssi":-26,"aoa":[],"gwts":"1653668027","ts":"1653668027","#
          + #""data":"0201061BFF99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F","coords":""}"#
      ),
      ("ruuvi/C8:25:2D:8E:9C:2C/gw_status", #"{"state": "online"}"#),
      (
        "/gw/ac233fc1eccc/status",
        #"[{"timestamp":"2026-04-29T17:12:02.288Z","type":"Gateway","mac":"AC233FC1ECCC","gatewayFree":96},"#
          + #"{"type":"iBeacon","mac":"C30000112233","ibeaconUuid":"E2C56DB5DFFB48D2B060D0F5A71096E0","#
          + #""ibeaconMajor":1,"ibeaconMinor":7,"rssi":-56,"ibeaconTxPower":-59}]"#
      ),
      (
        "gw/gw1/status",
        #"{"tm":"2026-04-29T17:12:02.288Z","gw":"ac233fc1eccc","seq":645,"#
          + #""adv":[{"type":"ht","temperature":21.1,"humidity":36.67,"rssi":-56,"mac":"c30000112233"}]}"#
      ),
      ("site/anything", #"{"observer":"hall","address":"c4:be:84:e7:ec:3e","rssi":-58,"data":"020106"}"#),
    ].map { ($0.0, Array($0.1.utf8)) } + [("/gw/0a0b0c0d0e0f/status", minew[0])]

  /// The messages as datagrams.
  package static let mqtt: [[UInt8]] = messages.compactMap { message in
    MQTTFormat.datagram(topic: message.topic.utf8, payload: message.payload)
  }

  /// Pharos datagrams with every record, signed and not.
  package static let pharos: [[UInt8]] = {
    let batch = everyKind
    let keys: [UInt32?] = [nil, 7]
    return keys.map { key in
      var encoder = PharosDatagramEncoder(observer: .eui48(0xAC23_3FA0_0001), bootID: 3, signingKeyID: key)
      for report in batch.reports { _ = encoder.append(report, from: batch) }
      return encoder.finish(uptime: .milliseconds(93_000))
    }
  }()

  /// One report of every kind, by two observers.
  package static let everyKind: ReportBatch = {
    var batch = ReportBatch()
    var decoder = DatagramDecoder()
    for datagram in [json[1], json[3]] {
      _ = decoder.decode(datagram.span.bytes, received: Timestamp(nanoseconds: 0), into: &batch)
    }
    return batch
  }()
}
