import Foundation
import PharosFixes
import PharosModel
import PharosSpace
import PharosTestSupport
import Testing

/// A hall of 60 by 24 m with access points, gateways and beacons that hang at known places, and people and tags in it.
struct Hall {
  /// Where it lies, and what makes its radios differ from those of other halls.
  var number: UInt64 = 1

  static let start = Timestamp(seconds: 1_750_000_000)
  static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  static let size = (width: 60.0, depth: 24.0)

  /// What its venue is called.
  var name: String { "hall-\(number)" }

  /// Where something hangs: in a grid of four by two.
  static let posts: [Point] = (0..<8).map { Point(x: 6 + Double($0 % 4) * 16, y: $0 < 4 ? 4 : 20) }

  func accessPoint(_ index: Int) -> DeviceAddress {
    DeviceAddress(bits: number << 16 | UInt64(index), kind: .public)
  }

  func gateway(_ index: Int) -> ObserverID { .eui48(0xAC23_0000_0000 | number << 16 | UInt64(index)) }

  func beacon(_ index: Int) -> BeaconID {
    .proximity(Hall.uuid, major: UInt16(number), minor: UInt16(index))
  }

  static func tag(_ index: Int) -> BeaconID { .proximity(Hall.uuid, major: 500, minor: UInt16(index)) }

  var ground: LocatableVenue {
    get throws {
      let origin = try #require(Coordinate(latitude: 52.5 + Double(number) * 0.1, longitude: 13.4))
      let corner = Point(x: Hall.size.width, y: Hall.size.depth)
      let floor = Floor(
        level: 0,
        names: ["Ground floor"],
        plane: .ground(GroundPlane(origin: origin)),
        walkable: [Area(outline: Polygon(rectangleFrom: .origin, to: corner))],
        beacons: [1, 6].map { PlacedBeacon(beacon($0), at: Hall.posts[$0]) },
        observers: Hall.posts.indices.map { PlacedObserver(gateway($0), at: Hall.posts[$0]) },
        accessPoints: Hall.posts.indices.map { PlacedAccessPoint(accessPoint($0), at: Hall.posts[$0]) }
      )
      return LocatableVenue(
        venue: Venue(identifier: name, buildings: [Building(identifier: "main", floors: [floor])])
      )
    }
  }

  /// Returns a site with regions of tags and the given positioning settings.
  static func site(_ positioning: PositioningSettings = PositioningSettings()) -> Site {
    let region = Region(
      identifier: "tags",
      constraint: .proximity(uuid, major: 500),
      subject: .beacon(observers: nil)
    )
    return Site(
      stream: "halls",
      applications: [Application(identifier: "gallery", regions: [region])],
      positioning: positioning
    )
  }

  /// The level at a distance, as a furnished hall has it, with some noise.
  static func level(from point: Point, to other: Point, _ random: inout SeededGenerator) -> RSSI {
    let meters = max(1, (point - other).length)
    let noise = (0..<4).reduce(0.0) { sum, _ in sum + Double.random(in: -2...2, using: &random) }
    return RSSI(dBm: Int8(max(-100, (-42 - 25 * log10(meters) + noise).rounded())))
  }
}
