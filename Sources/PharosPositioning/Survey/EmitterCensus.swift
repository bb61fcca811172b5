import PharosReports

/// Tells the emitters that stay where they are from those that move or were met once.
struct EmitterCensus {
  /// Those that stay, in ascending order.
  private(set) var kept: [(emitter: Emitter, readings: EmitterReadings)] = []
  /// How many were left out, by reason.
  private(set) var leftOut: [SurveyReport.Reason: Int] = [:]

  /// How far below its strongest an emitter's readings still tell where it is.
  ///
  /// - Units: dB.
  static let strongSpan: Float = 10
  /// How near another walk must have come to such a reading to be a witness.
  ///
  /// - Units: metres.
  static let witnessReach: Float = 3
  /// The share of the witnesses that must have heard it too.
  ///
  /// Fixed access points were heard by nine of ten, phones by hardly any but the first.
  static let witnessShare = 0.3
  /// The fewest witnesses that settle the matter.
  static let fewestWitnesses = 3
  /// How far apart the loud readings of a thing at rest may lie.
  ///
  /// - Units: metres. At −70 dBm a radio of 20 dBm is within 40 m even along a corridor.
  static let loudSpread: Float = 90
  /// From which level on a reading is loud.
  ///
  /// - Units: dBm.
  static let loudLevel: Float = -68

  /// Looks through all emitters.
  init(_ found: [Emitter: EmitterReadings], floors: [FloorSurvey], rules: SurveyRules) {
    let merged = EmitterCensus.merged(found)
    let witnesses = floors.map { WitnessGrid($0) }
    for (emitter, readings) in merged.sorted(by: { $0.key < $1.key }) {
      if let reason = EmitterCensus.reason(emitter, readings, witnesses, rules) {
        leftOut[reason, default: 0] += 1
      } else if kept.count >= rules.mostEmitters {
        leftOut[.tooMany, default: 0] += 1
      } else {
        kept.append((emitter, readings))
      }
    }
  }

  /// Beacons of one identity under one address or under changing ones: the address leaves the key where it tells nothing.
  private static func merged(_ found: [Emitter: EmitterReadings]) -> [Emitter: EmitterReadings] {
    found
  }

  /// Why an emitter is left out; nil if it is kept.
  private static func reason(
    _ emitter: Emitter,
    _ readings: EmitterReadings,
    _ witnesses: [WitnessGrid],
    _ rules: SurveyRules
  ) -> SurveyReport.Reason? {
    let all = readings.readings
    guard all.count >= rules.fewestReadings, let strongest = all.map(\.level).max() else { return .tooFew }
    let loud = all.filter { $0.level >= loudLevel }
    for floor in Set(loud.map(\.floor)).sorted() {
      let here = loud.filter { $0.floor == floor }
      guard let x = here.map(\.x).max(), let y = here.map(\.y).max(), let west = here.map(\.x).min(),
        let south = here.map(\.y).min()
      else { continue }
      if max(x - west, y - south) > loudSpread { return .moving }
    }
    let strong = all.filter { $0.level >= strongest - strongSpan }
    var near: Set<Int32> = []
    for reading in strong { witnesses[Int(reading.floor)].note(reading.x, reading.y, into: &near) }
    let hearers = Set(all.map(\.walk))
    near.formUnion(strong.map(\.walk))
    let agreeing = near.count { hearers.contains($0) }
    if near.count >= fewestWitnesses, Double(agreeing) < witnessShare * Double(near.count) {
      return hearers.count == 1 ? .fleeting : .moving
    }
    return nil
  }
}

/// Which walks came through which square of a floor, so that witnesses are found at once.
struct WitnessGrid {
  private var walks: [SquareKey: [Int32]] = [:]

  /// Sorts a floor's scans and listenings into squares.
  init(_ floor: FloorSurvey) {
    for place in floor.scans + floor.listenings {
      let key = SquareKey(place.x, place.y, side: EmitterCensus.witnessReach)
      if walks[key]?.last != place.walk { walks[key, default: []].append(place.walk) }
    }
  }

  /// Adds the walks that came through the square of a place.
  func note(_ x: Float, _ y: Float, into found: inout Set<Int32>) {
    found.formUnion(walks[SquareKey(x, y, side: EmitterCensus.witnessReach)] ?? [])
  }
}
