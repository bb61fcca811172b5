import FuzzWire
import PharosDocuments
import PharosModel
import PharosWire
import Testing

@Suite("Bad elements of a batch")
struct BadElementTests {
  private static let gateway = #"{"type":"Gateway","mac":"AC233FC0FFEE"}"#
  private static let good = #"{"mac":"C300000A0B0C","rssi":-61,"rawData":"020106"}"#
  private static let heard =
    "ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0c/unknown -61 unknown [020106] received"
  private static let heartbeat = "ac:23:3f:c0:ff:ee heartbeat - - 0 received"

  /// Elements that cannot be read, with the reason.
  private static let elements: [(String, DatagramRefusal)] = [
    (#""x""#, .nothingUnderstood), ("5", .nothingUnderstood), ("null", .nothingUnderstood),
    ("[]", .nothingUnderstood), ("[{}]", .nothingUnderstood), ("{}", .nothingUnderstood),
    (#"{"rssi":-70}"#, .nothingUnderstood),
    (#"{"mac":"","rssi":-70}"#, .badIdentity), (#"{"mac":"C3","rssi":-70}"#, .badIdentity),
    (#"{"mac":"C300000A0B0D","mac":"","rssi":-70}"#, .badIdentity),
    (#"{"mac":"C300000A0B0D","rssi":-70,"ibeaconUuid":"","ibeaconMajor":0,"ibeaconMinor":0}"#, .badIdentity),
    (#"{"mac":{"a":1},"rssi":-70}"#, .badField), (#"{"mac":"C300000A0B0D","rssi":200}"#, .badField),
    (#"{"mac":"C300000A0B0D","rssi":"loud"}"#, .badField),
    (#"{"mac":"C300000A0B0D","rssi":1e999}"#, .badField),
    (#"{"mac":"C300000A0B0D","rssi":123456789012345678901234567890}"#, .badField),
    (#"{"mac":"C300000A0B0D","rssi":-70,"rawData":"020"}"#, .badText),
    (#"{"mac":"C300000A0B0D","rssi":-70,"rawData":"zz"}"#, .badText),
    (#"{"mac":"C300000A0B0D","rssi":NaN}"#, .badText), (#"{"mac":"C300000A0B0D","rssi":}"#, .badText),
    (#"{"mac":"C300000A0B0D","bleName":"5" disk","rssi":-70}"#, .badText),
    ("{\"mac\":\"C300000A0B0D\",\"bleName\":\"a\u{1}b\",\"rssi\":-70}", .badText),
    ("{'mac':'C300000A0B0D'}", .badText), ("tru", .badText), ("{", .badText),
  ]

  @Test(
    "one element of a JSON list that cannot be read is counted, and the others are read",
    arguments: elements
  )
  func json(element: String, reason: DatagramRefusal) {
    let text = "[\(Self.gateway),\(Self.good),\(element),\(Self.good)]"
    let (lines, notes) = read(Array(text.utf8))
    #expect(lines == [Self.heartbeat, Self.heard, Self.heard])
    #expect(notes.skipped == [reason: 1])
    // On lines of their own, and in an MQTT message.
    let named = Self.good.replacing("{", with: #"{"gw":"AC233FC0FFEE","#)
    #expect(read(Array("\(named)\n\(element)\n\(named)\n".utf8)).lines == [Self.heard, Self.heard])
    let message = MQTTFormat.datagram(topic: "/gw/ac233fc0ffee/status".utf8, payload: text.utf8) ?? []
    #expect(read(message).lines == lines)
  }

  @Test("a list whose name occurs again is counted, and the last one is read")
  func replacedList() {
    for name in ["adverts", "Adverts"] {
      let text =
        #"{"observer":"AC233FC0FFEE","adverts":[{"mac":"C300000A0B0D","rssi":-70}],"\#(name)":[\#(Self.good)]}"#
      let (lines, notes) = read(Array(text.utf8))
      #expect(lines == [Self.heard])
      #expect(notes.skipped == [.badField: 1])
    }
    // Two names for one value are no list that is lost.
    let named = Self.good.replacing("{", with: #"{"gw":"AC233FC0FFEE","gateway":"AC233FC0FFEE","#)
    #expect(read(Array(named.utf8)).notes.skipped.isEmpty)
  }

  @Test(
    "a value that is nested too deep costs itself alone, with a brace or a quotation mark in it",
    arguments: [16, 17, 40, 200]
  )
  func nested(depth: Int) {
    let (opening, closing) = (String(repeating: "[", count: depth), String(repeating: "]", count: depth))
    for inner in ["", #""}],{\"""#, #"{"a":[1,{"b":2}]}"#] {
      let text = "[\(Self.gateway),\(Self.good),\(opening)\(inner)\(closing),\(Self.good)]"
      #expect(read(Array(text.utf8)).lines == [Self.heartbeat, Self.heard, Self.heard])
    }
  }

  @Test("a bad part of an envelope costs that part")
  func envelope() {
    let text = """
      {"observer":"hall","heartbeat":{"scanDuty":7},"scanState":"asleep","adverts":[7,\(Self.good),{"mac":1}],
       "wifiScan":[{"bssid":"x"},{"bssid":"001122334455","rssi":-50}],"motion":[{"kind":"smell"}]}
      """
    let (lines, notes) = read(Array(text.utf8))
    #expect(
      lines == [
        "hall advert c3:00:00:0a:0b:0c/unknown -61 unknown [020106] received",
        "hall wifi 00:11:22:33:44:55 -50 0 0 received",
      ]
    )
    #expect(notes.skipped == [.badField: 5, .badIdentity: 1])
  }

  @Test("behind a gateway that cannot be read, the devices are not those of the one before")
  func gateways() {
    let text = #"[\#(Self.gateway),\#(Self.good),{"type":"Gateway","mac":""},\#(Self.good)]"#
    let (lines, notes) = read(Array(text.utf8))
    #expect(lines == [Self.heartbeat, Self.heard])
    #expect(notes.skipped == [.badIdentity: 1, .noObserver: 1])
  }

  @Test("a name that is no UTF-8 costs the name")
  func encoding() {
    var text = Array("[\(Self.gateway),{\"bleName\":\"Bj".utf8)
    text.append(0xF6)
    text += Array("rn\",\(Self.good.dropFirst())]".utf8)
    let (lines, notes) = read(text)
    #expect(lines == [Self.heartbeat, Self.heard])
    #expect(notes.skipped == [.badText: 1])
    #expect(read([0xEF, 0xBB, 0xBF] + Array("[\(Self.gateway)]".utf8)).lines == [Self.heartbeat])
  }

  @Test("of JSON that is cut, whatever is complete before the cut is read")
  func cutJSON() {
    let text = Array("[\(Self.gateway),\(Self.good),\(Self.good)]".utf8)
    let ends = [
      Self.gateway.utf8.count + 1, Self.gateway.utf8.count + Self.good.utf8.count + 2, text.count - 1,
    ]
    for length in 1..<text.count {
      let complete = ends.filter { $0 <= length }.count
      let lines = read(Array(text.prefix(length))).lines
      #expect(lines?.count ?? 0 == complete, "\(length)")
    }
    let envelope = "{\"observer\":\"hall\",\"adverts\":[\(Self.good),\(Self.good),{\"mac\":\"C3000"
    #expect(read(Array(envelope.utf8)).lines?.count == 2)
  }

  @Test("an element with a brace in a text is dropped as any other that is malformed")
  func braces() {
    let bad = #"{"mac":"C300000A0B0D","bleName":"a{b","rssi":NaN}"#
    let (lines, notes) = read(Array("[\(Self.gateway),\(bad),\(Self.good)]".utf8))
    #expect(lines == [Self.heartbeat, Self.heard])
    #expect(notes.skipped == [.badText: 1])
  }

  @Test("a malformed or missing tag of an object of tags costs that tag")
  func tags() {
    let good = ["D4155C775668", "C4BE84E7EC3E"].map { #""\#($0)":{"rssi":-61,"data":"020106"}"# }
    let heard = ["d4:15:5c:77:56:68", "c4:be:84:e7:ec:3e"].map {
      "ac:23:3f:c0:ff:ee advert \($0)/unknown -61 unknown [020106] received"
    }
    func message(_ tags: String) -> [UInt8] {
      Array(#"{"data":{"gw_mac":"AC233FC0FFEE","tags":{\#(tags)"#.utf8)
    }
    for bad in [
      #""D4155C775669":{"rssi":NaN}"#, #""D4155C775669":{"rssi":-61,"data":"0"2"}"#, #""x":{"a":"}","b":}"#,
    ] {
      let (lines, notes) = read(message("\(good[0]),\(bad),\(good[1])}}}"))
      #expect(lines == [Self.heartbeat] + heard, "\(bad)")
      #expect(notes.skipped == [.badText: 1])
    }
    #expect(read(message("\(good[0]),\(good[1].dropLast(9))")).lines == [Self.heartbeat, heard[0]])
  }

  @Test("server-sent events that begin within a line cost that line")
  func eventStream() {
    let event =
      #"{"bdaddrs":[{"bdaddr":"C3:00:00:0A:0B:0C","bdaddrType":"public"}],"rssi":-61,"adData":"020106","ap":"AC233FC0FFEE"}"#
    let stream = "data: \(event)\n\ndata: \(event)\n\n"
    let whole = read(Array(stream.utf8))
    #expect(whole.lines?.count == 2)
    #expect(whole.notes.skipped.isEmpty)
    for start in 1..<event.utf8.count {
      let (lines, notes) = read(Array(stream.utf8.dropFirst(start)))
      // Of a line of which only the name of its field is missing, the data is whole; one that begins with a colon is a comment.
      let isWhole = start == 5 || start == 6
      let isComment = stream.utf8.dropFirst(start).first == UInt8(ascii: ":")
      #expect(lines == whole.lines?.suffix(isWhole ? 2 : 1), "\(start)")
      #expect(notes.skipped.isEmpty == (isWhole || isComment), "\(start)")
    }
  }

  @Test("text that is malformed throughout is refused in little time")
  func malformedThroughout() {
    for piece in [
      "{\"a\":[{\"", "{\"a\":x},", "[", "{\"a\":{\"b\":[{\"c\":1}],x},", "}],[{", "\"", "{\"a\":{",
    ] {
      #expect(read(Array("[\(String(repeating: piece, count: 20_000))".utf8)).lines == nil)
    }
  }

  @Test("a bad or cut Ingics line costs that line, and a line of another type is counted")
  func ingics() {
    let good = "$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,020106"
    let text =
      "\(good)\n$GPRP,0C61CFC1452E,E7DA\n$NEWS,1,2\n\(good)0\n\(good)\n$GPRP,0C61CFC1452E,E7DAE08E6FC3,-4"
    let (lines, notes) = read(Array(text.utf8))
    #expect(lines?.count == 2)
    #expect(notes.skipped == [.badIdentity: 1, .nothingUnderstood: 1, .badText: 1, .tooShort: 1])
  }

  @Test("Ingics lines behind noise, and within a line whose end was lost, are read")
  func noise() {
    let good = "$GPRP,0C61CFC1452E,E7DAE08E6FC3,-44,020106"
    let whole = read(Array("\(good)\r\n\(good)".utf8)).lines
    #expect(whole?.count == 2)
    for noise: [UInt8] in [
      [0xFF], [0, 0x81, 0x24, 0x0A, 0xFE], Array("1,-44,0201\r\n".utf8), Array("$GPRP,0C61".utf8),
    ] {
      let (lines, notes) = read(noise + Array("\(good)\r\n\(good)".utf8))
      #expect(lines == whole, "\(noise)")
      #expect(notes.skipped.values.reduce(0, +) >= 1)
      #expect(read(Array("\(good)\r\n".utf8) + noise + Array(good.utf8)).lines == whole, "\(noise)")
    }
    #expect(read([0xFF, 0x80] + Array("$NEWS,1".utf8)).lines == nil)
  }

  @Test("a bad member of April Brother's map costs that member")
  func aprilBrother() throws {
    let device = "c4 0b 03 c300000a0b0c c3 020106"
    func map(_ members: String) throws -> [UInt8] {
      try #require(Hex.bytes("83 a1 61 01 \(members)".filter { !$0.isWhitespace }))
    }
    let gateway = "a3 6d6163 ac 414332333346433046464545"
    let heard = "ac:23:3f:c0:ff:ee advert c3:00:00:0a:0b:0c/unknown -61 nonConnectable [020106] received"
    let good = try map("\(gateway) a7 64657669636573 92 \(device) \(device)")
    #expect(read(good).lines == [heard, heard])
    let mixed = try map("\(gateway) a7 64657669636573 94 \(device) 05 c4 02 0300 \(device)")
    #expect(read(mixed).lines == [heard, heard])
    #expect(read(mixed).notes.skipped == [.badField: 1, .tooShort: 1])
    // A key that is a number, with a list as its value.
    var numbered = try map("")
    numbered[0] = 0x84
    numbered += try #require(
      Hex.bytes("07 92 01 02 \(gateway) a7 64657669636573 91 \(device)".filter { !$0.isWhitespace })
    )
    #expect(read(numbered).lines == [heard])
    #expect(read(numbered).notes.skipped == [.badField: 1])
  }

  @Test("a raddec packet that is none costs that packet")
  func raddec() throws {
    // The second of its two packets says a length that it does not have.
    let packets = "f1 02 0b 0009ffeeddccbbaa020106 08 0009ffeeddccbbaa"
    let text = "02 aabbccddeeff 01 41 01 02 000000000001 \(packets)"
    let bytes = try #require(Hex.bytes(text.filter { !$0.isWhitespace }))
    var datagram: [UInt8] = [0x10, 0, UInt8(bytes.count + 4)] + bytes
    datagram.append(datagram.reduce(0, &+))
    let (lines, notes) = read(datagram)
    #expect(lines == ["00:00:00:00:00:01 advert aa:bb:cc:dd:ee:ff/public -62 connectable [020106] received"])
    #expect(notes.skipped == [.lengthMismatch: 1])
  }

  @Test("a bad record of a Pharos datagram costs that record unless the datagram is signed")
  func pharos() throws {
    let good = "02 0012 00000000 c5 00 00 ff 00 aabbccddeeff 020106"
    let bad = "02 000f 00000000 c5 07 00 ff 00 aabbccddeeff"
    func datagram(_ records: String, signed: Bool = false, missing: Int = 0) throws -> [UInt8] {
      let tag = signed ? String(repeating: "00", count: 16) : ""
      let body = try #require(Hex.bytes((records + tag).filter { !$0.isWhitespace }))
      let head = try #require(
        Hex.bytes(
          "0000\(signed ? "00000007" : "00000000")00000001000000020000000000000003" + "0106ac233fa00001"
        )
      )
      var bytes = Array("PHAR".utf8) + [1, signed ? 1 : 0] + head + body
      bytes[6] = UInt8(bytes.count >> 8)
      bytes[7] = UInt8(bytes.count & 0xFF)
      return Array(bytes.dropLast(missing))
    }
    let whole = read(try datagram(good + good)).lines
    #expect(whole?.count == 3)
    let (lines, notes) = read(try datagram(good + bad + good))
    #expect(lines == whole)
    #expect(notes.skipped == [.badField: 1])
    #expect(read(try datagram(good + bad + good, signed: true)).lines == nil)
    #expect(read(try datagram(good + good, signed: true)).lines == whole)
    // Cut within the last record, and where it begins.
    #expect(read(try datagram(good + good, missing: 3)).lines == whole.map { $0.dropLast() })
    #expect(read(try datagram(good + good, missing: 21)).lines == whole.map { $0.dropLast() })
    #expect(read(try datagram(good + good, signed: true, missing: 3)).lines == nil)
    // Records behind an observer that cannot be read belong to none.
    let other = "01 0002 01 ac"
    let (own, skipped) = read(try datagram(good + other + good))
    #expect(own == whole.map { $0.dropLast() })
    #expect(skipped.skipped == [.lengthMismatch: 1, .noObserver: 1])
  }

  @Test("skipped elements are counted by format and reason, and taken back with their datagram")
  func counters() {
    var decoder = DatagramDecoder()
    var batch = ReportBatch()
    let text = Array("[\(Self.gateway),5,\(Self.good)]".utf8)
    _ = decoder.decode(text.span.bytes, received: receiveTime, into: &batch)
    #expect(decoder.counters.skips(.json, .nothingUnderstood) == 1)
    #expect((decoder.counters + decoder.counters).totalSkips == 2)
    #expect(decoder.counters.skips.map(\.count) == [1])
    decoder.refuse(decoded: .json, .notListed, reports: 2)
    #expect(decoder.counters.totalSkips == 0)
  }
}
