public import PharosDocuments

/// The kinds of evidence that a fix was computed from.
public struct FixSources: OptionSet, Hashable, Sendable {
  /// A bit for each source.
  public let rawValue: UInt8

  /// Makes sources from their bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Wi-Fi scans.
  public static let wifi = FixSources(rawValue: 1 << 0)
  /// Beacons that the subject hears.
  public static let beacons = FixSources(rawValue: 1 << 1)
  /// Its motion.
  public static let motion = FixSources(rawValue: 1 << 2)
  /// Locations from outside: satellites, or a visual positioning service.
  public static let outside = FixSources(rawValue: 1 << 3)
  /// Fixed observers that hear the subject.
  public static let observers = FixSources(rawValue: 1 << 4)
  /// Every source there is.
  public static let all: FixSources = [.wifi, .beacons, .motion, .outside, .observers]

  /// The sources as events spell them, in the order of their bits.
  public static let names: [(source: FixSources, name: String)] = [
    (.wifi, "wifi"), (.beacons, "beacons"), (.motion, "motion"), (.outside, "outside"),
    (.observers, "observers"),
  ]
}

extension FixSources: MemberValue {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(rawValue) }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self.init(rawValue: try reader.read()) }

  static var schema: Schema { .list(.words(names.map(\.name))) }

  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    json.strings(key, FixSources.names.filter { contains($0.source) }.map(\.name))
  }

  func write(to record: inout RecordWriter, decimals: Int) { record.byte(rawValue) }

  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    let bits = try record.byte()
    guard bits & ~FixSources.all.rawValue == 0 else {
      throw record.failure(.unknownTag(field: "a fix's sources", tag: bits))
    }
    self.init(rawValue: bits)
  }
}

/// What is known of the making of a fix beyond its evidence, as `CLLocationSourceInformation` says it.
public struct SourceInformation: OptionSet, Hashable, Sendable {
  /// A bit for each statement.
  public let rawValue: UInt8

  /// Makes information from its bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Software simulates the location: a replay, a scene, or a handset that says so.
  public static let simulatedBySoftware = SourceInformation(rawValue: 1 << 0)
  /// An accessory of the handset produced the location.
  public static let producedByAccessory = SourceInformation(rawValue: 1 << 1)
  /// The location rests on visual positioning.
  public static let visualPositioning = SourceInformation(rawValue: 1 << 2)
  /// Everything there is.
  public static let all: SourceInformation = [.simulatedBySoftware, .producedByAccessory, .visualPositioning]

  /// The statements as events spell them, in the order of their bits.
  public static let names: [(information: SourceInformation, name: String)] = [
    (.simulatedBySoftware, "simulatedBySoftware"), (.producedByAccessory, "producedByAccessory"),
    (.visualPositioning, "visualPositioning"),
  ]

  /// Indicates whether software simulates the location, as Core Location names it.
  public var isSimulatedBySoftware: Bool { contains(.simulatedBySoftware) }
  /// Indicates whether an accessory produced the location, as Core Location names it.
  public var isProducedByAccessory: Bool { contains(.producedByAccessory) }
}

extension SourceInformation: MemberValue {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(rawValue) }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self.init(rawValue: try reader.read()) }

  static var schema: Schema { .list(.words(names.map(\.name))) }

  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    json.strings(key, SourceInformation.names.filter { contains($0.information) }.map(\.name))
  }

  func write(to record: inout RecordWriter, decimals: Int) { record.byte(rawValue) }

  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    let bits = try record.byte()
    guard bits & ~SourceInformation.all.rawValue == 0 else {
      throw record.failure(.unknownTag(field: "the information on a fix's source", tag: bits))
    }
    self.init(rawValue: bits)
  }
}

/// The advice to a handset on the use of its satellite receiver.
///
/// Indoors the receiver takes most of the power that positioning takes, and contributes least.
public enum SatelliteAdvice: UInt8, Hashable, Sendable {
  /// It is worth its power: the handset is outdoors, or it is not known whether it is.
  case needed
  /// It may be turned off: what is heard indoors says more.
  case notNeeded

  /// The advice as events spell it.
  public var name: String {
    switch self {
    case .needed: "needed"
    case .notNeeded: "notNeeded"
    }
  }
}

extension SatelliteAdvice: MemberValue, FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "the advice on satellites" }

  static var schema: Schema { .words([SatelliteAdvice.needed, .notNeeded].map(\.name)) }

  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, name) }
  func write(to record: inout RecordWriter, decimals: Int) { record.byte(rawValue) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    let code = try record.byte()
    guard let advice = SatelliteAdvice(rawValue: code) else {
      throw record.failure(.unknownTag(field: SatelliteAdvice.fieldName, tag: code))
    }
    self = advice
  }
}

extension AccuracyAuthorisation: MemberValue {
  static var schema: Schema { .words(allCases.filter(\.isReduced).map(\.rawValue)) }

  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, rawValue) }
  func write(to record: inout RecordWriter, decimals: Int) { record.byte(code) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    let code = try record.byte()
    guard let accuracy = AccuracyAuthorisation(code: code) else {
      throw record.failure(.unknownTag(field: AccuracyAuthorisation.fieldName, tag: code))
    }
    self = accuracy
  }
}
