public import PharosDocuments

/// A location that came from outside Pharos.
public struct OutsideFix: Hashable, Sendable {
  /// The system that made the fix.
  public enum Source: UInt8, CaseIterable, Sendable {
    /// A satellite receiver.
    case gnss
    /// A visual positioning service.
    case vps
  }

  /// Degrees north, WGS 84.
  public var latitude: Double
  /// Degrees east, WGS 84.
  public var longitude: Double
  /// The radius meant to hold 68 % of truths.
  public var horizontalAccuracy: Meters
  /// The speed in m/s, or nil if not known.
  public var speed: Float?
  /// The system that made the fix.
  public var source: Source
  /// Sources of a fix beyond the system: software that simulates it, or an accessory.
  public var information: SourceInformation = []
  /// The bits of the height, so that two fixes without one are equal.
  private var ellipsoidalHeight = Float.nan.bitPattern
  /// The rotation from the handset's axes to east, north and up, or nil if not known.
  public var attitude: Rotation?
  private var vertical = Hundredths()
  private var direction = Hundredths()
  private var directionError = Hundredths()
  private var speedError = Hundredths()

  /// Makes a fix; what else is known of it is set afterwards.
  public init(
    latitude: Double,
    longitude: Double,
    horizontalAccuracy: Meters,
    speed: Float?,
    source: Source,
    altitude: Meters? = nil,
    attitude: Rotation? = nil
  ) {
    self.latitude = latitude
    self.longitude = longitude
    self.horizontalAccuracy = horizontalAccuracy
    self.speed = speed
    self.source = source
    self.attitude = attitude
    self.altitude = altitude
  }

  /// The height above the WGS 84 ellipsoid, or nil if not known.
  public var altitude: Meters? {
    get {
      let height = Float(bitPattern: ellipsoidalHeight)
      return height.isFinite ? Meters(Double(height)) : nil
    }
    set { ellipsoidalHeight = (newValue.map { Float($0.value) } ?? .nan).bitPattern }
  }

  /// The distance in height meant to hold 68 % of truths, or nil if not known; kept to the centimetre, up to 655 m.
  public var verticalAccuracy: Meters? {
    get { vertical.value.map { Meters(Double($0)) } }
    set { vertical.value = newValue.map { Float($0.value) } }
  }

  /// The direction of the movement in degrees from north clockwise, or nil if not known; kept to a hundredth.
  public var course: Float? {
    get { direction.value }
    set { direction.value = newValue }
  }

  /// The angle meant to hold 68 % of true courses, in degrees, or nil if not known; kept to a hundredth.
  public var courseAccuracy: Float? {
    get { directionError.value }
    set { directionError.value = newValue }
  }

  /// The difference meant to hold 68 % of true speeds, in m/s, or nil if not known; kept to a hundredth.
  public var speedAccuracy: Float? {
    get { speedError.value }
    set { speedError.value = newValue }
  }
}

/// A quantity from 0 to 655.34 in steps of a hundredth, or none, in two bytes.
///
/// Every report has the size of the largest, and adverts come by the million.
package struct Hundredths: Hashable, Sendable {
  /// The number of hundredths; 65,535 for none.
  package private(set) var bits = UInt16.max

  /// Makes none.
  package init() {}

  /// Makes a quantity from its number of hundredths.
  package init(bits: UInt16) { self.bits = bits }

  /// The quantity; one that is no number, or negative, is none, and one that is too large is the largest.
  package var value: Float? {
    get { bits == .max ? nil : Float(bits) / 100 }
    set {
      guard let newValue, newValue >= 0 else { return bits = .max }
      bits = UInt16(min(65_534, (newValue * 100).rounded()))
    }
  }
}

/// A rotation in space as a quaternion of length one.
public struct Rotation: Hashable, Sendable {
  /// The real part.
  public var w: Float
  /// The part along the first axis.
  public var x: Float
  /// The part along the second axis.
  public var y: Float
  /// The part along the third axis.
  public var z: Float

  /// Makes a rotation from its parts, as they are.
  public init(w: Float, x: Float, y: Float, z: Float) {
    self.w = w
    self.x = x
    self.y = y
    self.z = z
  }

  /// The rotation that turns nothing.
  public static let identity = Rotation(w: 1, x: 0, y: 0, z: 0)

  /// The difference of the squared length from one up to which four numbers count as a rotation.
  ///
  /// Half floats and quaternions with three decimals stay far below.
  public static let tolerance: Float = 0.02

  /// Indicates whether the length is one, up to rounding.
  public var isUnit: Bool {
    let square = w * w + x * x + y * y + z * z
    return (square - 1).magnitude <= Rotation.tolerance
  }
}

/// A movement that visual odometry measured between two images.
///
/// Its frame is the odometry's own: the third axis points up, the direction of the other two is arbitrary but stays
/// the same within a session.
public struct RelativePose: Hashable, Sendable {
  /// The quality of tracking during the movement.
  public enum Quality: UInt8, CaseIterable, Sendable {
    /// The odometry has lost track; the movement means nothing.
    case lost
    /// It tracks with few features, or while it starts.
    case limited
    /// It tracks.
    case normal
  }

  /// The session of the odometry, which changes whenever its frame changes, as after a relocalisation or a restart.
  public var session: UInt32
  /// The time that the movement took; it ended at the time of the report.
  public var interval: TimeSpan
  /// The translation along the first axis of the session's frame, in metres.
  public var x: Float
  /// The translation along the second axis of the session's frame, in metres.
  public var y: Float
  /// The translation upwards, in metres.
  public var z: Float
  /// The rotation from the handset's axes to the session's frame at the end of the movement, or nil if not known.
  public var rotation: Rotation?
  /// The quality of tracking.
  public var quality: Quality

  /// Makes a movement.
  public init(
    session: UInt32,
    interval: TimeSpan,
    x: Float,
    y: Float,
    z: Float,
    rotation: Rotation? = nil,
    quality: Quality = .normal
  ) {
    self.session = session
    self.interval = interval
    self.x = x
    self.y = y
    self.z = z
    self.rotation = rotation
    self.quality = quality
  }
}

/// The state of a location source.
public enum PositioningState: UInt8, CaseIterable, Hashable, Sendable {
  /// It gives no position.
  case notPositioning
  /// It gives positions that are worse than usual, for reasons that it states.
  case degradedPositioning
  /// It gives positions as good as it can.
  case accuratePositioning

  /// The state as documents and events spell it.
  public var name: String {
    switch self {
    case .notPositioning: "notPositioning"
    case .degradedPositioning: "degradedPositioning"
    case .accuratePositioning: "accuratePositioning"
    }
  }
}

/// The reasons for which positions are worse than usual.
public struct PositioningReasons: OptionSet, Hashable, Sendable {
  /// A bit for each reason.
  public let rawValue: UInt16

  /// Makes reasons from their bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The camera sees too few features.
  public static let insufficientFeatures = PositioningReasons(rawValue: 1 << 0)
  /// The handset moves too fast.
  public static let excessiveMotion = PositioningReasons(rawValue: 1 << 1)
  /// It is too dark.
  public static let lowLight = PositioningReasons(rawValue: 1 << 2)
  /// The service has no map of the place.
  public static let noMap = PositioningReasons(rawValue: 1 << 3)
  /// The service is looking for its place in the map again.
  public static let relocalising = PositioningReasons(rawValue: 1 << 4)
  /// The odometry is lost or silent.
  public static let trackingLost = PositioningReasons(rawValue: 1 << 5)
  /// The last scans contradict everything else.
  public static let scanDisagrees = PositioningReasons(rawValue: 1 << 6)
  /// The last scan is too far back.
  public static let scanOverdue = PositioningReasons(rawValue: 1 << 7)

  /// Every reason there is.
  public static let all = PositioningReasons(rawValue: 0xFF)
  /// The reasons that a handset can state; the others are Pharos's own.
  public static let reported: PositioningReasons = [
    .insufficientFeatures, .excessiveMotion, .lowLight, .noMap, .relocalising,
  ]

  /// The reasons as documents and events spell them, in the order of their bits.
  public static let names: [(reason: PositioningReasons, name: String)] = [
    (.insufficientFeatures, "insufficientFeatures"), (.excessiveMotion, "excessiveMotion"),
    (.lowLight, "lowLight"), (.noMap, "noMap"), (.relocalising, "relocalising"),
    (.trackingLost, "trackingLost"), (.scanDisagrees, "scanDisagrees"), (.scanOverdue, "scanOverdue"),
  ]
}

/// The progress of a scan of a visual positioning service.
public enum ScanStatus: UInt8, CaseIterable, Hashable, Sendable {
  /// None runs.
  case stopped
  /// One runs.
  case started
  /// The last one found no position.
  case failed
}

/// The state of a visual positioning service, as the handset reports it.
public struct VisualStatus: Hashable, Sendable {
  /// The state.
  public var state: PositioningState
  /// The reasons for a degraded state.
  public var reasons: PositioningReasons
  /// The status of scans that the user makes.
  public var scan: ScanStatus
  /// The status of scans that the handset makes without the user.
  public var backgroundScan: ScanStatus

  /// Makes a status.
  public init(
    state: PositioningState,
    reasons: PositioningReasons = [],
    scan: ScanStatus = .stopped,
    backgroundScan: ScanStatus = .stopped
  ) {
    self.state = state
    self.reasons = reasons
    self.scan = scan
    self.backgroundScan = backgroundScan
  }
}

extension PositioningReasons {
  /// The names of the reasons.
  package var words: [String] { PositioningReasons.names.filter { contains($0.reason) }.map(\.name) }
}

extension PositioningReasons: MemberValue {
  static var schema: Schema { .list(.words(names.map(\.name))) }

  /// Writes the value.
  public func write(to writer: inout FieldWriter) { writer.write(rawValue) }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) { self.init(rawValue: try reader.read()) }

  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) {
    guard !isEmpty else { return }
    json.openArray(key)
    for word in words { json.element(word) }
    json.closeArray()
  }

  func write(to record: inout RecordWriter, decimals: Int) { record.number(UInt64(rawValue)) }

  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    let bits = try record.number()
    guard bits <= UInt64(PositioningReasons.all.rawValue) else {
      throw record.failure(.outOfRange(field: "reasons"))
    }
    self.init(rawValue: UInt16(bits))
  }
}

extension PositioningState: MemberChoice, MemberValue {
  /// The name of the field.
  public static var fieldName: String { "a positioning state" }

  static var schema: Schema { .words(allCases.map(\.name)) }

  func write(to json: inout JSONText, _ key: StaticString, decimals: Int) { json.member(key, name) }
  func write(to record: inout RecordWriter, decimals: Int) { record.byte(rawValue) }
  init(from record: inout RecordReader, decimals: Int) throws(FieldError) {
    let code = try record.byte()
    guard let state = PositioningState(rawValue: code) else {
      throw record.failure(.unknownTag(field: PositioningState.fieldName, tag: code))
    }
    self = state
  }
}

extension Rotation: EventMembers {
  static var unread: Rotation { .identity }

  mutating func visitMembers<Coder: MemberCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.member("w", &w, decimals: 4)
    try coder.member("x", &x, decimals: 4)
    try coder.member("y", &y, decimals: 4)
    try coder.member("z", &z, decimals: 4)
  }
}

extension OutsideFix: FieldStruct {
  /// A fix whose fields are still to be read.
  public init() {
    self.init(latitude: 0, longitude: 0, horizontalAccuracy: Meters(0), speed: nil, source: .gnss)
  }

  /// Hands each field to a coder.
  public mutating func visitFields<C: FieldCoder>(_ coder: inout C) throws(C.Failure) {
    try coder.code(&latitude)
    try coder.code(&longitude)
    horizontalAccuracy = Meters(try coder.field(horizontalAccuracy.value))
    try coder.code(&speed)
    try coder.code(&source)
    try coder.code(options: &information)
    try coder.code(&ellipsoidalHeight)
    try coder.code(&attitude)
    vertical = Hundredths(bits: try coder.field(vertical.bits))
    direction = Hundredths(bits: try coder.field(direction.bits))
    directionError = Hundredths(bits: try coder.field(directionError.bits))
    speedError = Hundredths(bits: try coder.field(speedError.bits))
  }
}

extension OutsideFix.Source: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a source of fixes" }
}

extension Rotation: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    Rotation(
      w: try coder.field(value().w),
      x: try coder.field(value().x),
      y: try coder.field(value().y),
      z: try coder.field(value().z)
    )
  }
}

extension RelativePose.Quality: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a quality of tracking" }
}

extension RelativePose: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    RelativePose(
      session: try coder.field(value().session),
      interval: try coder.field(value().interval),
      x: try coder.field(value().x),
      y: try coder.field(value().y),
      z: try coder.field(value().z),
      rotation: try coder.field(value().rotation),
      quality: try coder.field(value().quality)
    )
  }
}

extension ScanStatus: FieldChoice {
  /// The name of the field.
  public static var fieldName: String { "a state of a scan" }
}

extension VisualStatus: FieldRecord {
  /// Hands each field to a coder.
  public static func coded<C: FieldCoder>(_ value: () -> Self, by coder: inout C) throws(C.Failure) -> Self {
    VisualStatus(
      state: try coder.field(value().state),
      reasons: PositioningReasons(rawValue: try coder.field(value().reasons.rawValue)),
      scan: try coder.field(value().scan),
      backgroundScan: try coder.field(value().backgroundScan)
    )
  }
}
