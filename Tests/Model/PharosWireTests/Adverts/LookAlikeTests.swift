import PharosWire
import Testing

/// Adverts that peers take for beacons, or for none, wrongly.
@Suite struct LookAlikeTests {
  @Test(
    "a sensor that sends a complete iBeacon frame is an iBeacon",
    arguments: [
      (
        "020106 1aff4c000215 b5b182c7eab14988aa99b5c1517008d9 0001 641a c5",
        "iBeacon B5B182C7-EAB1-4988-AA99-B5C1517008D9/1/25626 -59",
        "ABTemp: the minor is battery (100 %) and temperature (26 °C)"
      ),
      (
        "02011a 1aff4c000215 655f83caae16a10a702e31f30d58dd82 f644 0000 64",
        "iBeacon 655F83CA-AE16-A10A-702E-31F30D58DD82/63044/0 100",
        "BM2: the measured power is a battery's charge (100 %)"
      ),
      (
        "1aff4c000215 a495bb10c5b14b44b5121370f02d74de 0044 03f8 c5",
        "iBeacon A495BB10-C5B1-4B44-B512-1370F02D74DE/68/1016 -59",
        "Tilt: the major is a temperature (68 °F), the minor a gravity (1.016)"
      ),
      (
        "020106 0303 88ec 09ff 88ec 00 0384e45c 00 1aff4c000215 494e54454c4c495f524f434b535f4857 5075 f2ff c2",
        "iBeacon 494E5445-4C4C-495F-524F-434B535F4857/20597/62207 -62",
        "Govee H5075: its reading stands in a structure of its own before the frame"
      ),
    ]
  )
  func sensors(hex: String, expected: String, why: String) {
    let payload = bytes(hex)
    #expect(frames(payload).map(line) == [expected], "\(why)")
    #expect(!structures(payload).isMalformed, "\(why)")
  }

  @Test(
    "Apple's other manufacturer data are no iBeacon, whatever their length",
    arguments: [
      ("1aff4c00 1019 e2c56db5dffb48d2b060d0f5a71096e000640000c5", "25 bytes of Nearby Info"),
      ("1aff4c00 1219 e2c56db5dffb48d2b060d0f5a71096e000640000c5", "25 bytes of Find My"),
      ("1aff4c00 0214 e2c56db5dffb48d2b060d0f5a71096e000640000c5", "25 bytes that count 20 where 21 follow"),
      ("1aff4c00 1502 e2c56db5dffb48d2b060d0f5a71096e000640000c5", "the code the wrong way round"),
      ("1aff004c 0215 e2c56db5dffb48d2b060d0f5a71096e000640000c5", "the company the wrong way round"),
      ("02011a 020a0c 0fff4c00 0f06a033bd08c5 1002440c", "an iPhone"),
      ("02011a 020a0c 0aff4c00 1005441cbd08c5", "an iPhone"),
      ("19ff4c00 0215 e2c56db5dffb48d2b060d0f5a71096e000640000", "an iBeacon without its power"),
    ]
  )
  func apple(hex: String, why: String) {
    #expect(frames(bytes(hex)).isEmpty, "\(why)")
  }

  @Test("the layout under Nordic's company is an iBeacon only when it was opted in")
  func nordic() throws {
    let payload = bytes("020104 1aff5900 0215 0112233445566778899aabbccddeeff0 0001 00c3 bb")
    #expect(frames(payload).isEmpty)
    #expect(frames(payload, iBeaconCompanies: [0x0118]).isEmpty)
    let found = frames(payload, iBeaconCompanies: [0x0118, 0x0059])
    #expect(found.map(line) == ["iBeacon 01122334-4556-6778-899A-ABBCCDDEEFF0/1/195 -69"])
    guard case .iBeacon(let frame) = try #require(found.first) else {
      Issue.record("no iBeacon")
      return
    }
    #expect(frame.company == 0x0059)
  }

  @Test("opting other companies in does not put Apple's out")
  func optIn() {
    let payload = bytes("1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5")
    #expect(frames(payload, iBeaconCompanies: [0x0059]).count == 1)
  }

  @Test(
    "service data that are not Eddystone's are no frame",
    arguments: [
      ("1916aafe 40 e2c56db5dffb48d2b060d0f5a71096e000640000 c5", "a Find Hub tag"),
      ("1916aafe 41 e2c56db5dffb48d2b060d0f5a71096e000640000 c5", "a Find Hub tag away from its owner"),
      ("1216aafe 2101070e5b16531f95fffcffec03eb", "KKM's sensor"),
      ("1116aafe 2002 0b1813000000146700002ac4", "telemetry of a version to come"),
      ("1716aafe 01e3123456789012346789010000000000010000", "a reserved bit in the frame's type"),
      ("1716feaa 00e3123456789012346789010000000000010000", "the UUID the wrong way round"),
      ("17166ffd 00e3123456789012346789010000000000010000", "another service"),
      ("1721aafe 00e3123456789012346789010000000000010000", "128-bit service data"),
      ("0316aafe", "the UUID alone"),
      ("0216aa", "half a UUID"),
      ("0116", "nothing"),
    ]
  )
  func service(hex: String, why: String) {
    #expect(frames(bytes(hex)).isEmpty, "\(why)")
  }

  @Test(
    "service data are Eddystone's by the UUID of 16, 32 or 128 bits",
    arguments: ["1716aafe", "1920aafe0000", "2521fb349b5f80000080" + "00100000aafe0000"]
  )
  func serviceUUIDs(head: String) {
    let frame = "00e3123456789012346789010000000000010000"
    #expect(frames(bytes(head + frame)).count == 1)
    #expect(frames(bytes(head.replacing("aafe", with: "abfe") + frame)).isEmpty)
  }

  @Test("an Eddystone frame counts without the list that names its service, and with one that names another")
  func serviceList() {
    let frame = "0d16aafe30e34549445f74657374"
    for list in ["", "0303aafe", "03030d18", "02010603020f18"] {
      #expect(frames(bytes(list + frame)).count == 1, "behind \(list)")
    }
  }

  @Test("the same bytes under another type are no frame")
  func otherTypes() {
    let data = bytes("4c000215e2c56db5dffb48d2b060d0f5a71096e000640000c5")
    for type in UInt8.min...UInt8.max where type != 0xFF {
      #expect(frames(structure(type, data)).isEmpty, "type \(type)")
    }
  }
}
