package import PharosModel
package import PharosSpace

/// The expected level of every known emitter at every place of a venue, with the uncertainty of that expectation.
///
/// One value covers all floors; it is made once and shared. `SurveyLearner` learns it from walks,
/// `init(placed:rules:)` makes it from the known places of emitters, or it is read back from a venue's folder. The
/// map refers to emitters and floors by small numbers. For each emitter and each floor on which it can be heard, there
/// is one `RadioPatch` of cells.
///
/// - Shape: A level is a byte, −127 dBm + byte ÷ 2; a deviation is a byte, byte ÷ 10 dB. Both apply to the middle of a
///   cell.
public struct RadioMap: Hashable, Sendable {
  /// The floors that the map covers.
  package internal(set) var floors: [FloorID] = []
  /// The grid of each floor.
  package internal(set) var grids: [RadioGrid] = []
  /// The emitters, in ascending order.
  package internal(set) var emitters: [Emitter] = []
  /// A number for each emitter, equal for emitters that share one box, because their readings err together.
  package internal(set) var groups: [Int32] = []
  /// The scatter of a single reading of each emitter about the expected level.
  ///
  /// - Units: dB.
  package internal(set) var noises: [Float] = []
  /// The patches, emitter by emitter, then floor by floor.
  package internal(set) var patches: [RadioPatch] = []
  /// The expected levels of all patches, row by row.
  package internal(set) var levels: [UInt8] = []
  /// The uncertainty of the expected levels, row by row, without the scatter of single readings.
  package internal(set) var deviations: [UInt8] = []
  /// The number of times that the survey passed through each cell of each floor's grid, at most 255; empty without a
  /// survey.
  package internal(set) var walked: [[UInt8]] = []
  /// The positions of the emitters whose place is known or could be found.
  package internal(set) var anchors: [RadioAnchor] = []
  /// The plans on which the survey's walks went in other directions than by their compasses.
  package var turns: [PlanTurn] = []
  /// The factors on the radius of fixes that held-back walks of the survey showed; empty where they were too few.
  package var radiusScales: [RadiusScale] = []

  /// The index of each emitter's first patch, followed by the end index.
  private var firstPatches: [Int32] = [0]
  /// The number of each emitter.
  private(set) var numbers: [Emitter: Int32] = [:]

  /// Creates a map of some floors that knows no emitter yet.
  ///
  /// Emitters are added in ascending order, each before its patches. ``RadioMapDraft`` sorts them, and
  /// ``RadioMapFields`` rejects others.
  init(floors: [FloorID] = [], grids: [RadioGrid] = [], walked: [[UInt8]] = []) {
    self.floors = floors
    self.grids = grids
    self.walked = walked
  }

  /// Adds the next emitter, and returns its number.
  mutating func add(_ emitter: Emitter, group: Int32, noise: Float) -> Int32 {
    let number = Int32(emitters.count)
    emitters.append(emitter)
    groups.append(group)
    noises.append(noise)
    numbers[emitter] = number
    firstPatches.append(Int32(patches.count))
    return number
  }

  /// Adds the next patch of the last emitter.
  mutating func add(_ patch: RadioPatch) {
    patches.append(patch)
    firstPatches[emitters.count] += 1
  }

  /// Returns the number of an emitter, or nil if the map does not know it.
  package func emitter(_ emitter: Emitter) -> Int32? { numbers[emitter.plain] }

  /// Returns the number of a beacon that was heard with an address, which distinguishes beacons of the same identity.
  package func emitter(ofBeacon beacon: BeaconID, address: DeviceAddress?) -> Int32? {
    if let address, let number = numbers[.beacon(beacon.keyed(by: address))] { return number }
    return numbers[.beacon(beacon)]
  }

  /// Returns the patch of an emitter on a floor, or nil where it is not expected at all.
  package func patch(of emitter: Int32, floor: Int) -> RadioPatch? {
    for place in patchRange(of: emitter) where patches[place].floor == Int32(truncatingIfNeeded: floor) {
      return patches[place]
    }
    return nil
  }

  /// Returns the patches of an emitter, as a range of ``patches``.
  package func patchRange(of emitter: Int32) -> Range<Int> {
    guard emitter >= 0, Int(emitter) < emitters.count else { return 0..<0 }
    return Int(firstPatches[Int(emitter)])..<Int(firstPatches[Int(emitter) + 1])
  }

  /// Returns the level that a byte represents.
  ///
  /// - Units: dBm.
  package static func level(_ byte: UInt8) -> Float { Float(byte) * 0.5 - 127 }

  /// Returns the byte for a level, clamped to the range of a byte: −127 to 0.5 dBm.
  package static func byte(level: Float) -> UInt8 {
    guard level > -127 else { return 0 }
    return UInt8(min(255, ((level + 127) * 2).rounded()))
  }

  /// Returns the deviation that a byte represents.
  ///
  /// - Units: dB.
  package static func deviation(_ byte: UInt8) -> Float { Float(byte) * 0.1 }

  /// Returns the byte for a deviation, clamped to the range of a byte: 0 to 25.5 dB.
  package static func byte(deviation: Float) -> UInt8 {
    guard deviation > 0 else { return 0 }
    return UInt8(min(255, (deviation * 10).rounded()))
  }

  /// Returns the level expected of an emitter at a place, between the middles of cells by bilinear interpolation.
  ///
  /// - Parameters:
  ///   - emitter: its number.
  ///   - floor: the floor's place in ``floors``.
  ///   - point: the place on the floor's plane.
  /// - Returns: the level in dBm and its uncertainty in dB, or nil where the emitter is not expected at all.
  package func prediction(of emitter: Int32, floor: Int, at point: Point) -> (level: Float, deviation: Float)?
  {
    guard let patch = patch(of: emitter, floor: floor) else { return nil }
    let position = grids[floor].position(of: point)
    let column = position.column - Float(patch.column)
    let row = position.row - Float(patch.row)
    guard column >= -0.5, row >= -0.5, column <= Float(patch.columns) - 0.5, row <= Float(patch.rows) - 0.5
    else { return nil }
    let (west, shareEast) = RadioPatch.cells(at: column, of: Int(patch.columns))
    let (south, shareNorth) = RadioPatch.cells(at: row, of: Int(patch.rows))
    let east = patch.columns > 1 ? 1 : 0
    let north = patch.rows > 1 ? Int(patch.columns) : 0
    let corner = Int(patch.offset) + south * Int(patch.columns) + west
    func between(_ values: [UInt8]) -> Float {
      let low = Float(values[corner]) * (1 - shareEast) + Float(values[corner + east]) * shareEast
      let high =
        Float(values[corner + north]) * (1 - shareEast) + Float(values[corner + north + east]) * shareEast
      return low * (1 - shareNorth) + high * shareNorth
    }
    return (between(levels) * 0.5 - 127, between(deviations) * 0.1)
  }
}

/// The factor on the radius of the fixes of a kind of subject, learned from walks of the survey from which a map was not made.
package struct RadiusScale: Hashable, Sendable {
  /// The kinds of subjects for which a survey shows it.
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// Handsets whose motion sensors report.
    case moving
    /// Handsets without motion.
    case blind
  }

  /// The kind of subject.
  package let kind: Kind
  /// The factor, within ``bounds``.
  package let factor: Float
  /// The number of held-back walks that show it.
  package let walks: Int

  /// The bounds of the factor.
  ///
  /// From 1: walks of one survey share its days, phones and surveyors, so held-back ones err less than later subjects do. To 2:
  /// beyond it the map is wrong, and no radius would say where.
  package static let bounds: ClosedRange<Float> = 1...2

  package init(kind: Kind, factor: Float, walks: Int) {
    self.kind = kind
    self.factor = factor
    self.walks = walks
  }
}

extension RadiusScale: CustomStringConvertible {
  /// The factor, the kind and the evidence, as in `radius × 1.12 with motion (84 held-back walks)`.
  package var description: String {
    let hundredths = Int((factor * 100).rounded())
    let digits = hundredths % 100 < 10 ? "0\(hundredths % 100)" : "\(hundredths % 100)"
    let kind = kind == .moving ? "with motion" : "without motion"
    return "radius × \(hundredths / 100).\(digits) \(kind) (\(walks) held-back walks)"
  }
}

/// A floor plan that is not turned to north, as the walks of a survey show it.
package struct PlanTurn: Hashable, Sendable {
  /// The floor.
  package let floor: FloorID
  /// The angle by which walks on the plan point clockwise of their compass headings.
  ///
  /// - Units: radians.
  package let radians: Float
  /// The number of walks that show it.
  package let walks: Int

  package init(floor: FloorID, radians: Float, walks: Int) {
    self.floor = floor
    self.radians = radians
    self.walks = walks
  }
}

extension PlanTurn: CustomStringConvertible {
  /// The finding as a warning for the author of the venue.
  package var description: String {
    let degrees = Int((radians.magnitude * 180 / .pi).rounded())
    let side = radians > 0 ? "clockwise" : "counterclockwise"
    let back = radians > 0 ? "counterclockwise" : "clockwise"
    return
      "floor \(floor): on the plan \(walks) walks went \(degrees)° \(side) of their compass headings. Turn the plan "
      + "\(degrees)° \(back) and survey again, unless north as the compass has it differs as much there "
      + "or all phones were held askew"
  }
}

/// The position of an emitter, with its uncertainty.
package struct RadioAnchor: Hashable, Sendable {
  /// The emitter, as its place in ``RadioMap/emitters``.
  package let emitter: Int32
  /// The floor, as its place in ``RadioMap/floors``.
  package let floor: Int32
  /// The place on the floor's plane.
  package let point: Point
  /// The uncertainty of the place along each axis.
  ///
  /// - Units: metres.
  package let deviation: Float
}

/// A source of radio levels in a map: a stationary device that is heard at many places, or that hears at many places.
package enum Emitter: Hashable, Sendable {
  /// A radio of a Wi-Fi access point, by the address that its network is known by.
  case accessPoint(DeviceAddress)
  /// A beacon; with its address where many share the rest of the identity.
  case beacon(BeaconID)
  /// A fixed observer, with the direction reversed: the level at which it hears a tag at a place.
  case observer(ObserverID)

  /// The same emitter without what only some formats report: whether an address is public or random.
  package var plain: Emitter {
    guard case .accessPoint(let address) = self else { return self }
    return .accessPoint(DeviceAddress(bits: address.bits, kind: .unknown))
  }

  /// Returns the number that radios of one box share: makers count up the last digit, or mark further networks in the
  /// first octet.
  ///
  /// - Parameter frequency: the centre frequency in MHz, which distinguishes the bands of a box; 0 if unknown.
  /// - Returns: the number, equal for emitters of one box and band.
  package func group(frequency: UInt16) -> UInt64 {
    switch self {
    case .accessPoint(let address): (address.bits & 0x00FF_FFFF_FFF0) | (frequency > 4_000 ? 1 : 0)
    case .beacon(let beacon): UInt64(1) << 60 | (beacon.words.address ^ beacon.words.tail ^ beacon.words.low)
    case .observer(let observer): UInt64(1) << 61 | observer.stableHash >> 4
    }
  }
}

extension Emitter: Comparable {
  private var rank: Int {
    switch self {
    case .accessPoint: 0
    case .beacon: 1
    case .observer: 2
    }
  }

  /// Orders access points before beacons before observers, each by their identity.
  package static func < (left: Emitter, right: Emitter) -> Bool {
    switch (left, right) {
    case (.accessPoint(let left), .accessPoint(let right)): left < right
    case (.beacon(let left), .beacon(let right)): left < right
    case (.observer(let left), .observer(let right)): left.description < right.description
    case (.accessPoint, _), (.beacon, _), (.observer, _): left.rank < right.rank
    }
  }
}

extension Emitter: CustomStringConvertible {
  /// The kind and the identity, as in `access point ac:23:3f:a0:00:01`.
  package var description: String {
    switch self {
    case .accessPoint(let address): "access point \(address)"
    case .beacon(let beacon): "beacon \(beacon)"
    case .observer(let observer): "observer \(observer)"
    }
  }
}
