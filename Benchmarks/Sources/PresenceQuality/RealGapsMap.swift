import Foundation
import PharosCaptures
import PharosModel

/// Where the fixed beacons of the mall hang, as fitted from walks.
///
/// The positions of the walkers are known, those of the beacons are not. For each beacon that point is taken from
/// which the levels heard on its floor fit a log-distance law best: its two coefficients are solved for at each point
/// of a grid, an error beyond three deviations counts as three, and the point is drawn softly to the mean of the
/// places, weighted by power.
struct RealGapsMap: Sendable {
  /// Where one beacon hangs.
  struct Place: Sendable {
    var floor: String
    var x: Double
    var y: Double
  }

  /// One advert, and where the walker was when it was heard.
  struct Reading: Sendable {
    var walk: Int
    var floor: String
    var x: Double
    var y: Double
    var level: Double
  }

  /// How many readings a beacon needs to be placed.
  static let minimumReadings = 20
  /// The scatter of one level about the law, in dB: what the traces show.
  private static let scatter = 6.0

  /// The readings of each beacon.
  private(set) var readings: [DeviceAddress: [Reading]] = [:]

  /// Collects the readings of walks.
  init(of walks: [RealWalk]) {
    for (index, walk) in walks.enumerated() {
      for heard in walk.beacons where heard.beacon == RealWalk.family {
        guard let level = heard.rssi, let position = walk.position(at: heard.time) else { continue }
        let reading = Reading(
          walk: index,
          floor: walk.floor,
          x: position.x,
          y: position.y,
          level: Double(level.dBm)
        )
        readings[heard.address, default: []].append(reading)
      }
    }
  }

  /// The place of a beacon from the readings that a condition keeps, or nil if they are too few.
  func place(of beacon: DeviceAddress, where isKept: (Reading) -> Bool = { _ in true }) -> Place? {
    let kept = (readings[beacon] ?? []).filter(isKept)
    guard let floor = RealGapsMap.loudestFloor(kept) else { return nil }
    let here = kept.filter { $0.floor == floor }
    guard here.count >= RealGapsMap.minimumReadings else { return nil }
    let center = RealGapsMap.center(here)
    var best = (x: center.x, y: center.y, cost: Double.infinity)
    // From coarse to fine, in metres.
    for (reach, step) in [(12.0, 3.0), (2.0, 1.0)] {
      let start = best
      for dx in stride(from: -reach, through: reach, by: step) {
        for dy in stride(from: -reach, through: reach, by: step) {
          let (x, y) = (start.x + dx, start.y + dy)
          let drawn = ((x - center.x) * (x - center.x) + (y - center.y) * (y - center.y)) / 64
          let cost = RealGapsMap.misfit(here, x, y) + drawn
          if cost < best.cost { best = (x, y, cost) }
        }
      }
    }
    return Place(floor: floor, x: best.x, y: best.y)
  }

  /// All beacons that can be placed.
  func places() -> [DeviceAddress: Place] {
    readings.reduce(into: [:]) { places, entry in places[entry.key] = place(of: entry.key) }
  }

  /// The beacons that a walk heard, placed without what it heard.
  func places(without walk: Int, near heard: RealWalk) -> [DeviceAddress: Place] {
    var places: [DeviceAddress: Place] = [:]
    for beacon in Set(heard.beacons.map(\.address)) where readings[beacon] != nil {
      places[beacon] = place(of: beacon) { $0.walk != walk }
    }
    return places
  }

  /// How far a place is off, in metres, for each beacon: the walks are split into two halves at random by their
  /// order, and half the distance of the two places is the error of the one made from all.
  ///
  /// Two halves differ by the root of two times the root of two times as much as the whole is off.
  func errors() -> [Double] {
    readings.keys.compactMap { beacon in
      guard let even = place(of: beacon, where: { $0.walk % 2 == 0 }),
        let odd = place(of: beacon, where: { $0.walk % 2 == 1 }), even.floor == odd.floor
      else { return nil }
      return ((even.x - odd.x) * (even.x - odd.x) + (even.y - odd.y) * (even.y - odd.y)).squareRoot() / 2
    }.sorted()
  }

  private static func loudestFloor(_ readings: [Reading]) -> String? {
    var sums: [String: Double] = [:]
    for reading in readings { sums[reading.floor, default: 0] += pow(10, reading.level / 20) }
    return sums.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
  }

  private static func center(_ readings: [Reading]) -> (x: Double, y: Double) {
    var (x, y, sum) = (0.0, 0.0, 0.0)
    for reading in readings {
      let weight = pow(10, reading.level / 10)
      x += weight * reading.x
      y += weight * reading.y
      sum += weight
    }
    return (x / sum, y / sum)
  }

  /// How badly the levels fit a beacon at a point, in units of the scatter squared.
  ///
  /// Ridge regression of level on log distance: −60 ± 6 dBm at one metre and an exponent of 2 ± 0.5 are assumed
  /// beforehand, and a beacon hangs 1.5 m above the phone.
  private static func misfit(_ readings: [Reading], _ x: Double, _ y: Double) -> Double {
    let weight = 1 / (scatter * scatter)
    var (a, b, c) = (1.0 / 36, 0.0, 1.0 / 0.25)
    var (u, v) = (-60.0 / 36, 2.0 / 0.25)
    let slopes = readings.map { reading -> Double in
      let squared = (reading.x - x) * (reading.x - x) + (reading.y - y) * (reading.y - y)
      return -5 * log10(max(squared, 1) + 2.25)
    }
    for (reading, slope) in zip(readings, slopes) {
      a += weight
      b += weight * slope
      c += weight * slope * slope
      u += weight * reading.level
      v += weight * slope * reading.level
    }
    let determinant = a * c - b * b
    let power = (u * c - v * b) / determinant
    let exponent = (a * v - b * u) / determinant
    var cost = (power + 60) * (power + 60) / 36 + (exponent - 2) * (exponent - 2) / 0.25
    for (reading, slope) in zip(readings, slopes) {
      let error = reading.level - power - exponent * slope
      cost += min(error * error * weight, 9)
    }
    return cost
  }
}
