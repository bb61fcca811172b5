import PharosCaptures
import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

/// The trace of btmon with its text between the records, as both come out of one pipe.
@Suite("Foreign bytes in btsnoop")
struct ForeignBytesTests {
  @Test(
    "text in blocks of stdio's buffer costs no record",
    arguments: Seeds.drawn(1..<1_000 as Range<UInt64>)
  )
  func betweenRecords(seed: UInt64) {
    var trace = Trace(seed: seed)
    var text: [UInt8] = []
    var bytes = Trace.header
    var blocks = 0
    for _ in 0..<400 {
      // btmon writes a record at once, and its text to a buffer that is written when it is full.
      bytes += trace.record()
      text += trace.text(Int.random(in: 100...1_500, using: &trace.random))
      while text.count >= Trace.block {
        bytes += text.prefix(Trace.block)
        text.removeFirst(Trace.block)
        blocks += 1
      }
    }
    bytes += text
    let read = trace.read(bytes)
    #expect(read.datas == trace.datas)
    #expect(read.reader.foreign.bytes == UInt64(blocks * Trace.block + text.count))
    #expect(read.error == nil)
  }

  @Test(
    "text at any byte costs the reports around it only",
    arguments: Seeds.drawn(1..<1_000 as Range<UInt64>)
  )
  func insideRecords(seed: UInt64) {
    var trace = Trace(seed: seed)
    var bytes = Trace.header
    var intact: [[UInt8]] = []
    var foreign = 0
    for _ in 0..<400 {
      let record = trace.record()
      let data = Array(record.dropFirst(24))
      var cut: Int?
      if Int.random(in: 0..<4, using: &trace.random) == 0 {
        cut = .random(in: 0..<record.count, using: &trace.random)
      }
      if cut == nil || cut == 0 { intact.append(data) }
      guard let cut else {
        bytes += record
        continue
      }
      let text = trace.text(Trace.block * Int.random(in: 1...3, using: &trace.random))
      bytes += record[..<cut] + text + record[cut...]
      foreign += text.count
    }
    let read = trace.read(bytes)
    #expect(Trace.reports(read.datas) == Trace.reports(intact))
    #expect(read.reader.foreign.bytes >= UInt64(foreign))
    #expect(read.error == nil)
  }

  @Test("a malformed record is no foreign one, and a file that ends early is cut")
  func malformed() {
    var trace = Trace(seed: 1)
    // An event that says more parameters than it has.
    let malformed = trace.record(3, [0x3E, 9, 2])
    let whole = Trace.header + malformed + trace.record()
    let read = trace.read(whole)
    #expect(read.datas == trace.datas)
    #expect(read.reader.foreign == ForeignBytes())
    let cut = trace.read(Array(whole.dropLast(3)))
    #expect(cut.datas == [trace.datas[0]])
    #expect(cut.error?.description.contains("the file ends inside record 2") == true)
  }

  @Test("an operator reads how many there were and how to start btmon")
  func wording() {
    var foreign = ForeignBytes()
    foreign.bytes = 4_096
    foreign.places = 1
    #expect(
      "\(foreign)"
        == "4096 foreign bytes in 1 place between the records were passed over. If they are text of btmon, start it as "
        + "`btmon -w /dev/fd/3 3>&1 >/dev/null | …`"
    )
  }
}

/// A trace of the monitor channel as btmon makes it, drawn from a seed.
private struct Trace {
  static let header = CaptureBytes.hex("6274736e6f6f7000 00000001 000007d1")
  /// The size of stdio's buffer for a pipe.
  static let block = 4_096

  var random: SeededGenerator
  /// The data of all records so far.
  private(set) var datas: [[UInt8]] = []
  private var time: UInt64 = 0x00E3_1234_5678_9ABC

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// The next record: mostly adverts, as reports or extended reports, and the host's commands.
  mutating func record() -> [UInt8] {
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      let parameters = draw(0...20)
      return record(2, [0x0C, 0x20, UInt8(parameters.count)] + parameters)
    case 1:
      return record(3, [0x0E, 4, 1, 0x0C, 0x20, 0])
    default:
      var reports: [UInt8] = []
      let count = Int.random(in: 1...3, using: &random)
      for _ in 0..<count {
        let data = draw(0...31)
        reports += [3, 1] + draw(6...6) + [UInt8(data.count)] + data
        reports.append(UInt8(bitPattern: Int8.random(in: -110 ... -20, using: &random)))
      }
      return record(3, [0x3E, UInt8(reports.count + 2), 2, UInt8(count)] + reports)
    }
  }

  mutating func record(_ opcode: UInt8, _ data: [UInt8]) -> [UInt8] {
    datas.append(data)
    time += UInt64.random(in: 1...100_000, using: &random)
    let length = Hex.text(UInt64(data.count), bytes: 4)
    return CaptureBytes.hex(
      length + length + "000000" + Hex.text([opcode]) + "00000000" + Hex.text(time, bytes: 8)
    )
      + data
  }

  /// Text as btmon prints it.
  mutating func text(_ length: Int) -> [UInt8] {
    let words = [
      "> HCI Event: LE Meta Event (0x3e) plen 43", "#17 [hci0] 12.345678", "\n        RSSI: -60 dBm (0xc4)",
    ]
    var text: [UInt8] = []
    while text.count < length { text += Array((words.randomElement(using: &random) ?? "").utf8) + [0x0A] }
    return Array(text.prefix(length))
  }

  /// Reads bytes in chunks of drawn lengths.
  mutating func read(_ bytes: [UInt8]) -> (datas: [[UInt8]], reader: CaptureReader, error: CaptureError?) {
    var reader = CaptureReader()
    var datas: [[UInt8]] = []
    var rest = bytes[...]
    do throws(CaptureError) {
      while !rest.isEmpty {
        let chunk = rest.prefix(Int.random(in: 1...9_000, using: &random))
        reader.append(chunk)
        rest = rest.dropFirst(chunk.count)
        while let packet = try reader.nextPacket() { datas.append(Array(packet.bytes)) }
      }
      try reader.finish()
    } catch { return (datas, reader, error) }
    return (datas, reader, nil)
  }

  /// What an extractor finds in the data of records: addresses, levels and payloads.
  static func reports(_ datas: [[UInt8]]) -> [String] {
    var extractor = AdvertExtractor()
    return datas.flatMap { data in
      let packet = Packet(
        number: 1,
        time: nil,
        linkType: .btsnoopMonitor,
        flags: 3,
        originalLength: data.count,
        bytes: data[...]
      )
      return extractor.reports(in: packet).map {
        "\($0.address.map { "\($0)" } ?? "-") \($0.level ?? 0) \(Hex.text($0.data))"
      }
    }
  }

  private mutating func draw(_ lengths: ClosedRange<Int>) -> [UInt8] {
    let length = Int.random(in: lengths, using: &random)
    return (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
  }
}
