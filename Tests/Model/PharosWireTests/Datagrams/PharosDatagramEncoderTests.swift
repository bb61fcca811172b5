import PharosModel
import PharosTestSupport
import PharosWire
import Testing

@Suite("Writing the Pharos datagram")
struct PharosDatagramEncoderTests {
  @Test("random reports of every kind read back to the same", arguments: Seeds.drawn(0..<100))
  func roundTrip(seed: UInt64) throws {
    var source = RandomReports(seed: seed)
    let batch = source.batch(of: 120)
    let sender = try #require(batch.observers.first)
    let key: UInt32? = seed.isMultiple(of: 2) ? nil : UInt32(seed)
    var encoder = PharosDatagramEncoder(observer: sender, bootID: 9, sequence: .max, signingKeyID: key)
    var lines: [String] = []
    var heads: [UInt32] = []
    var datagram: [UInt8] = []
    func flush() throws {
      encoder.finish(uptime: .milliseconds(77), into: &datagram)
      #expect(datagram.count <= PharosDatagramLayout.maximumLength)
      let head = try PharosDatagramHead.head(of: datagram.span.bytes)
      #expect(head.observer == sender && head.bootID == 9 && head.keyID == key ?? 0)
      #expect((head.tag == nil) == (key == nil))
      heads.append(head.sequence)
      lines += try decoded(datagram).get().dropFirst()
    }
    for report in batch.reports where !encoder.append(report, from: batch) {
      try flush()
      #expect(encoder.isEmpty)
      let appended = encoder.append(report, from: batch)
      #expect(appended)
    }
    try flush()
    // The adverts of an observer come in the order of their times.
    #expect(lines.sorted() == batch.lines.sorted())
    #expect(lines.filter { !$0.contains(" advert ") } == batch.lines.filter { !$0.contains(" advert ") })
    #expect(heads.count > 1)
    #expect(heads == heads.indices.map { UInt32.max &+ UInt32($0) })
  }

  @Test("a report that does not fit leaves the datagram as it was")
  func full() throws {
    var batch = ReportBatch()
    for observer in [ObserverID.name("a"), .name("b")] {
      let payload = batch.append(payload: Array(repeating: 7, count: 700))
      let advert = Advert(address: nil, rssi: nil, payload: payload)
      let index = batch.index(of: observer)
      batch.append(
        Report(observer: index, received: receiveTime, timing: .age(.zero), body: .advert(advert))
      )
    }
    var encoder = PharosDatagramEncoder(observer: .name("a"), bootID: 1)
    let first = encoder.append(batch.reports[0], from: batch)
    #expect(first)
    let length = encoder.byteCount
    let second = encoder.append(batch.reports[1], from: batch)
    #expect(!second)
    #expect(encoder.byteCount == length)
    let expected = ["a head 1 0 0 received"] + batch.lines.prefix(1)
    #expect(decoded(encoder.finish(uptime: .zero)) == .success(Array(expected)))
    let again = encoder.append(batch.reports[1], from: batch)
    #expect(again)
    #expect(try decoded(encoder.finish(uptime: .zero)).get().last == batch.lines.last)
  }

  @Test(
    "an advert that fits no datagram is refused by an empty one",
    arguments: [1_318, 1_319, 1_650, 70_000]
  )
  func tooLong(length: Int) {
    var batch = ReportBatch()
    let advert = Advert(
      address: nil,
      rssi: nil,
      payload: batch.append(payload: Array(repeating: 0, count: length))
    )
    let report = Report(
      observer: batch.index(of: .name(String(repeating: "n", count: 34))),
      received: receiveTime,
      timing: .received,
      body: .advert(advert)
    )
    var encoder = PharosDatagramEncoder(observer: batch.observers[0], bootID: 1)
    // 30 and 34 bytes of head, 3 and 15 of record: 1,318 remain.
    let fits = encoder.append(report, from: batch)
    #expect(fits == (length == 1_318))
  }

  @Test(
    "the age that is written reaches until the time of sending",
    arguments: [
      (ReportTiming.received, 0, 0), (.age(.milliseconds(120)), 0, 120), (.received, 40, 40),
      (.age(.milliseconds(120)), 40, 160), (.sent(receiveTime - .milliseconds(7)), 3, 10),
      (.sent(receiveTime + .milliseconds(7)), 0, 0), (.age(TimeSpan(nanoseconds: 1_500_000)), 0, 2),
      (.age(.forever), 0, Int(UInt32.max)),
    ]
  )
  func ages(timing: ReportTiming, wait: Int, milliseconds: Int) throws {
    var batch = ReportBatch()
    let observer = batch.index(of: .name("a"))
    let report = Report(observer: observer, received: receiveTime, timing: timing, body: .displayOn)
    var encoder = PharosDatagramEncoder(observer: .name("a"), bootID: 1)
    let sent = receiveTime + .milliseconds(Int64(wait))
    let appended = encoder.append(report, from: batch, sent: wait == 0 ? nil : sent)
    #expect(appended)
    let line = try decoded(encoder.finish(uptime: .zero)).get().last
    #expect(line == "a display on age \(milliseconds)" + (milliseconds == 0 ? "" : "000000"))
  }

  @Test("heads of other datagrams are not written")
  func heads() {
    var batch = ReportBatch()
    let head = Transmission(bootID: 5, sequence: 6, uptime: .zero)
    let report = Report(
      observer: batch.index(of: .name("b")),
      received: receiveTime,
      timing: .received,
      body: .transmission(head)
    )
    var encoder = PharosDatagramEncoder(observer: .name("a"), bootID: 1)
    let appended = encoder.append(report, from: batch)
    #expect(appended)
    #expect(encoder.isEmpty)
    #expect(decoded(encoder.finish(uptime: .zero)) == .success(["a head 1 0 0 received"]))
  }

  @Test("values that the format has no room for are left out, not garbled")
  func oddValues() throws {
    var batch = ReportBatch()
    let observer = batch.index(of: .name("a"))
    func add(_ body: ReportBody) {
      batch.append(Report(observer: observer, received: receiveTime, timing: .age(.zero), body: body))
    }
    let samples = batch.append(motionSamples: [
      MotionSample(kind: .step, age: .zero, x: .nan, y: 0, z: 0),
      MotionSample(kind: .step, age: .zero, x: 1, y: 0, z: 0),
    ])
    add(.motion(samples))
    add(.advert(Advert(address: nil, rssi: nil, channel: 12, payload: 0..<0)))
    var encoder = PharosDatagramEncoder(observer: .name("a"), bootID: 1)
    for report in batch.reports {
      let appended = encoder.append(report, from: batch)
      #expect(appended)
    }
    #expect(
      try decoded(encoder.finish(uptime: .zero)).get().dropFirst()
        == ["a motion step 0 1.0 0.0 0.0 age 0", "a advert anonymous - unknown [] age 0"]
    )
  }
}
