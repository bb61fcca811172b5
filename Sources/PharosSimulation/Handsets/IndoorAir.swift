package import PharosPlaces
import PharosReports

/// The air of a house between what hangs in it and those who walk about in it.
///
/// - Complexity: a level costs a look at the walls between two places.
package struct IndoorAir: Sendable {
  /// One end that does not move.
  package struct Station: Hashable, Sendable {
    /// The floor it hangs on.
    package var floor: FloorID
    /// Where it hangs.
    package var point: Point

    /// Hangs it up.
    package init(floor: FloorID, point: Point) {
      self.floor = floor
      self.point = point
    }
  }

  /// How radio spreads.
  package let radio: IndoorRadio
  private let seed: UInt64
  private let storey: Double
  private let spaces: [FloorID: FloorSpace]

  /// Fills a venue with air.
  ///
  /// - Parameters:
  ///   - venue: the house.
  ///   - radio: how radio spreads in it.
  ///   - storey: how high its storeys are, in metres.
  ///   - seed: what the shadows are drawn from.
  package init(in venue: Venue, radio: IndoorRadio, storey: Double = 4.5, seed: UInt64) {
    self.radio = radio
    self.storey = storey
    self.seed = seed
    spaces = Dictionary(uniqueKeysWithValues: venue.floors.map { ($0.id, FloorSpace($0.floor)) })
  }

  /// How far a hand holds a handset below what hangs overhead.
  ///
  /// - Units: metres.
  private static let overhead = 1.5

  /// What is lost on the way between a station and a place, by distance, walls, floors and shadows; readings scatter
  /// around it by ``IndoorRadio/fading``.
  ///
  /// Between buildings nothing is heard.
  ///
  /// - Units: dB against the level at one metre.
  package func loss(between station: Station, number: Int, and place: Journey.Place) -> Double? {
    guard station.floor.building == place.floor.building else { return nil }
    let across = station.point.distance(to: place.point)
    let up = Double(station.floor.level) * storey - place.height + IndoorAir.overhead
    let distance = max(Radio.nearestDistance, (across * across + up * up).squareRoot())
    var loss = 10 * radio.pathLossExponent * RadioMath.decadicLog(distance)
    let floors = (station.floor.level - place.floor.level).magnitude
    if floors == 0 {
      loss += spaces[place.floor]?.attenuation(between: station.point, and: place.point) ?? 0
    } else {
      loss += radio.floorLoss + Double(floors - 1) * radio.furtherFloorLoss
    }
    guard radio.shadowing > 0 else { return loss }
    let field = NoiseField(seed: seed, UInt64(number), length: radio.shadowLength)
    return loss + radio.shadowing * field.value(at: place.point, layer: place.floor.level)
  }

  /// One reading of a level, or nil where the frame is lost.
  func reading(of level: Double, _ random: inout RandomStream) -> Double? {
    let read = level + (radio.fading > 0 ? radio.fading * random.normal() : 0)
    guard radio.softness > 0 else { return read >= radio.sensitivity ? read : nil }
    let chance = 1 / (1 + RadioMath.exponential((radio.sensitivity - read) / radio.softness))
    return random.chance(chance) ? read : nil
  }
}
