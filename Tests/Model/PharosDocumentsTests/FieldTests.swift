import PharosDocuments
import PharosModel
import PharosTestSupport
import Testing

@Suite("Values as bytes")
struct FieldTests {
  private static func written(_ write: (inout FieldWriter) -> Void) -> [UInt8] {
    var writer = FieldWriter()
    write(&writer)
    return writer.bytes
  }

  @Test("numbers lie with the most significant byte first, wherever they begin")
  func numbers() throws {
    let bytes = FieldTests.written { writer in
      writer.write(7 as UInt8)
      writer.write(0x0102 as UInt16)
      writer.write(0x0304_0506 as UInt32)
      writer.write(-2 as Int64)
      writer.write(1.5 as Double)
      writer.write(-2.5 as Float)
    }
    #expect(bytes.prefix(7) == [7, 1, 2, 3, 4, 5, 6])
    #expect(bytes[7..<15] == [255, 255, 255, 255, 255, 255, 255, 254])
    // In the middle of other bytes, as in a block.
    var reader = FieldReader(([9, 9, 9] + bytes + [9])[3..<(3 + bytes.count)])
    #expect(try reader.byte() == 7)
    #expect(try reader.number(UInt16.self) == 0x0102)
    #expect(try reader.number(UInt32.self) == 0x0304_0506)
    #expect(try reader.number(Int64.self) == -2)
    #expect(try reader.double() == 1.5)
    #expect(try reader.float() == -2.5)
    try reader.finish()
    #expect(throws: FieldError.self) { try reader.number(UInt16.self) }
  }

  @Test(
    "beacons of every sort come back, keyed or not, in few bytes",
    arguments: Seeds.drawn(0..<200 as Range<UInt64>)
  )
  func beacons(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let address = DeviceAddress(bits: random.next(), kind: .random)
    let plain: [BeaconID] = [
      .proximity(
        UUID128(high: random.next(), low: random.next()),
        major: 1,
        minor: UInt16(truncatingIfNeeded: seed)
      ),
      .eddystone(EddystoneNamespace(high: random.next(), low: 3), instance: random.next()),
      .address(address),
    ]
    for (beacon, size) in zip(plain, [21, 17, 7]) {
      for (value, length) in [
        (beacon, size), (beacon.keyed(by: address), beacon.kind == .address ? 7 : size + 6),
      ] {
        let bytes = FieldTests.written { value.write(to: &$0) }
        #expect(bytes.count == length)
        var reader = FieldReader(bytes[...])
        #expect(try BeaconID(from: &reader) == value)
        try reader.finish()
        for cut in bytes.indices {
          var short = FieldReader(bytes[..<cut])
          #expect(throws: FieldError.self) { try BeaconID(from: &short) }
        }
      }
    }
  }

  @Test("a tag that is no beacon's is refused", arguments: [3, 6, 7, 8, 255] as [UInt8])
  func noBeacon(tag: UInt8) {
    var reader = FieldReader(([tag] + Array(repeating: 0, count: 40))[...])
    #expect(throws: FieldError.self) { try BeaconID(from: &reader) }
  }

  @Test("a block is passed over as a whole, and its errors say where they are in all the bytes")
  func blocks() throws {
    let bytes = FieldTests.written { writer in
      writer.write(1 as UInt8)
      writer.code(block: { block in
        block.write(2 as UInt8)
        block.code(block: { $0.write("inner") })
      })
      writer.write(3 as UInt8)
    }
    var reader = FieldReader(bytes[...])
    #expect(try reader.byte() == 1)
    let passed = try reader.beginBlock()
    reader.skipBlock()
    try reader.endBlock(passed)
    #expect(try reader.byte() == 3)
    try reader.finish()
    var other = FieldReader(bytes[...])
    _ = try other.byte()
    let outer = try other.beginBlock()
    #expect(try other.byte() == 2)
    let inner = try other.beginBlock()
    #expect(try other.text() == "inner")
    #expect(throws: FieldError(.cut, at: bytes.count - 1)) { try other.byte() }
    try other.endBlock(inner)
    try other.endBlock(outer)
    #expect(try other.byte() == 3)
    var early = FieldReader(bytes[...])
    _ = try early.byte()
    let left = try early.beginBlock()
    #expect(throws: FieldError(.surplus(bytes: 14), at: 5)) { try early.endBlock(left) }
    var cut = FieldReader(bytes.dropLast(4))
    _ = try cut.byte()
    #expect(throws: FieldError.self) { try cut.beginBlock() }
  }

  @Test("the cases of a union come back, each with what it holds, and a byte of none is refused")
  func unions() throws {
    for sample in [Sample.nothing, .number(-5), .pair("a", 7)] {
      let bytes = FieldTests.written { $0.write(sample) }
      var reader = FieldReader(bytes[...])
      #expect(try reader.read(Sample.self) == sample)
      try reader.finish()
    }
    #expect(
      FieldTests.written { $0.write(Sample.number(-5)) } == [1] + Array(repeating: 255, count: 7) + [251]
    )
    var reader = FieldReader([3][...])
    #expect(throws: FieldError(.unknownTag(field: "a sample", tag: 3), at: 1)) {
      try reader.read(Sample.self)
    }
  }

  @Test("a struct is made of its fields, and a form that stands for nothing is refused")
  func records() throws {
    let shelf = Shelf(label: Label(text: "left"), counts: ["b": 2, "a": 1], tags: ["z", "y"])
    let bytes = FieldTests.written { $0.write(shelf) }
    var reader = FieldReader(bytes[...])
    #expect(try reader.read(Shelf.self) == shelf)
    try reader.finish()
    // Dictionaries and sets are in order, so that equal values have equal bytes.
    let other = Shelf(label: Label(text: "left"), counts: ["a": 1, "b": 2], tags: ["y", "z"])
    #expect(FieldTests.written { $0.write(other) } == bytes)
    var nameless = FieldReader(FieldTests.written { $0.write("") }[...])
    #expect(throws: FieldError(.badIdentity, at: 4)) { try nameless.read(Label.self) }
    for length in 0..<bytes.count {
      var cut = FieldReader(bytes[..<length])
      #expect(throws: FieldError.self) { try cut.read(Shelf.self) }
    }
  }

  @Test("parts are read into a value that keeps its configuration")
  func parts() throws {
    var meter = Meter(limit: 10, levels: [3, 9])
    let bytes = FieldTests.written { meter.visitFields(&$0) }
    #expect(meter.levels == [3, 9])
    var wide = Meter(limit: 20, levels: [1, 2, 3])
    var reader = FieldReader(bytes[...])
    try wide.visitFields(&reader)
    #expect(wide.levels == [3, 9])
    #expect(wide.limit == 20)
    var narrow = Meter(limit: 5, levels: [])
    var again = FieldReader(bytes[...])
    #expect(throws: FieldError(.outOfRange(field: "a level"), at: 6)) { try narrow.visitFields(&again) }
  }

  @Test("a count is believed only as far as there are bytes for it")
  func counts() throws {
    let bytes = FieldTests.written { $0.write(3 as UInt32) } + Array(repeating: 0, count: 12)
    var reader = FieldReader(bytes[...])
    #expect(try reader.count(ofAtLeast: 4) == 3)
    var greedy = FieldReader(bytes[...])
    #expect(throws: FieldError.self) { try greedy.count(ofAtLeast: 5) }
  }

  @Test("a policy comes back; one with a budget of false exits that is none is refused")
  func budgets() throws {
    let policy = PresencePolicy(falseExitsPerDay: 0.5)
    let bytes = FieldTests.written { policy.write(to: &$0) }
    var reader = FieldReader(bytes[...])
    #expect(try PresencePolicy(from: &reader) == policy)
    for budget in [-1e-9, -.infinity, .infinity, .nan] {
      let wrong = FieldTests.written { PresencePolicy(falseExitsPerDay: budget).write(to: &$0) }
      var reader = FieldReader(wrong[...])
      #expect(throws: FieldError.self) { try PresencePolicy(from: &reader) }
    }
  }

  @Test("admission and acceptance come back, and what is neither is refused")
  func admission() throws {
    var site = Site(stream: "s")
    site.admission = .listed
    var bytes = FieldTests.written { site.write(to: &$0) }
    var reader = FieldReader(bytes[...])
    #expect(try Site(from: &reader) == site)
    bytes[bytes.count - 1] = 2
    var wrong = FieldReader(bytes[...])
    #expect(throws: FieldError.self) { try Site(from: &wrong) }
    let gate = ObserverID.name("gate")
    for change in [
      RegionChange.acceptObserver(gate), .dismissObserver(gate), .setRegionLimit(application: "a", 7),
      .declare(site),
    ] {
      let written = FieldTests.written { change.write(to: &$0) }
      var changes = FieldReader(written[...])
      #expect(try RegionChange(from: &changes) == change)
    }
  }

  @Test("a declaration has no applications: none is written, and one that is read is refused")
  func declaration() throws {
    let site = Site(stream: "s", applications: [Application(identifier: "a")])
    var bytes = FieldTests.written { RegionChange.declare(site).write(to: &$0) }
    var reader = FieldReader(bytes[...])
    #expect(try RegionChange(from: &reader) == .declare(Site(stream: "s")))
    bytes = [bytes[0]] + FieldTests.written { site.write(to: &$0) }
    reader = FieldReader(bytes[...])
    #expect(throws: FieldError.self) { try RegionChange(from: &reader) }
  }

  @Test("a site and its changes come back, and lie as they always did")
  func layout() throws {
    let uuid = UUID128(high: 1, low: 2)
    let address = DeviceAddress(bits: 9, kind: .random)
    var region = Region(
      identifier: "r",
      constraint: .proximity(uuid, major: 3),
      subject: .beacon(observers: [.name("gate"), .uuid(uuid)])
    )
    region.presence = PresencePolicy(
      enterWithin: .seconds(3),
      exitDistance: Meters(4),
      silence: .fixed(.seconds(9))
    )
    let namespace = EddystoneNamespace(high: 7, low: 8)
    let site = Site(
      applications: [
        Application(
          identifier: "a",
          regions: [region],
          ranging: [RangingRequest(constraint: .eddystone(namespace, instance: 5), whileInside: true)],
          rotation: [RegionNode(region: region, children: [RegionNode(region: region)])]
        )
      ],
      observers: [
        ObserverEntry(id: .eui48(1), name: "n", liveness: .traffic, lag: .seconds(1)), .init(id: .eui64(2)),
      ],
      beacons: [BeaconEntry(constraint: .address(address), measuredPower: -59, interval: .seconds(1))],
      zones: [
        Zone(
          identifier: "z",
          observers: [.eui48(1)],
          floor: -1,
          adjacent: ["y"],
          beacons: [.address(address)]
        )
      ],
      iBeaconCompanies: [76],
      admission: .listed,
      positioning: PositioningSettings(particles: 100),
      venues: ["v"]
    )
    let changes: [RegionChange] = [
      .startMonitoring(application: "a", region, assuming: .inside),
      .stopMonitoring(application: "a", identifier: "r"),
      .setRotation(application: "a", site.applications[0].rotation),
      .startRanging(application: "a", site.applications[0].ranging[0]),
      .stopRanging(application: "a", region.constraint ?? .unread),
      .requestState(application: "a", identifier: "r", subject: .beacon(.address(address))),
      .requestState(application: "a", identifier: "r", subject: .none), .acceptObserver(.name("gate")),
    ]
    let bytes = FieldTests.written { site.write(to: &$0) } + FieldTests.written { $0.write(changes) }
    #expect(
      bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        == 3_671_766_503_776_219_936
    )
    var reader = FieldReader(bytes[...])
    #expect(try Site(from: &reader) == site)
    #expect(try reader.list(RegionChange.self) == changes)
    try reader.finish()
  }
}

private enum Sample: FieldUnion {
  case nothing
  case number(Int)
  case pair(String, UInt16)

  static var fieldName: String { "a sample" }

  static func visitCases<C: FieldCoder>(
    _ union: inout FieldCase<Self>,
    _ coder: inout C
  ) throws(C.Failure) {
    try coder.code(&union, 0, .nothing)
    try coder.code(&union, 1, Self.number) { if case .number(let number) = $0 { number } else { nil } }
    try coder.code(&union, 2, Self.pair) {
      if case .pair(let text, let number) = $0 { (text, number) } else { nil }
    }
  }
}

private struct Label: FieldForm {
  var form: String

  init(text: String) { form = text }

  init?(form: String) {
    guard !form.isEmpty else { return nil }
    self.form = form
  }
}

private struct Shelf: FieldRecord {
  let label: Label
  let counts: [String: UInt32]
  let tags: Set<String>

  static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Shelf(
      label: try coder.field(value().label),
      counts: try coder.field(value().counts),
      tags: try coder.field(value().tags)
    )
  }
}

private struct Meter: FieldParts {
  let limit: UInt8
  var levels: [UInt8]

  mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    let limit = limit
    try coder.code(list: &levels, into: 0) { (level, coder) throws(C.Failure) in
      try coder.code(&level, in: 0...limit, "a level")
    }
  }
}
