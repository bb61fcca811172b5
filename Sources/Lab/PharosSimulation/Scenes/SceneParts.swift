package import PharosModel
import PharosSpace
import PharosWire

/// The parts of the built-in scenes.
package enum SceneParts {
  /// The proximity UUID of fixed beacons: the one of Apple's first sample code, which testers know by sight.
  package static let places = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  /// The proximity UUID of tags.
  static let tags = UUID128(high: 0x7C3B_1F0E_52D4_4A86, low: 0x9E61_3D0A_5B7C_9F21)
  /// A proximity UUID that no region of the scenes asks about.
  static let foreignDevices = UUID128(high: 0x1D0F_93B4_6A2C_4E57, low: 0x8C11_0E9B_27D6_45A8)

  /// Returns an iBeacon that states its true power.
  static func iBeacon(
    _ name: String,
    _ uuid: UUID128,
    _ major: UInt16,
    _ minor: UInt16,
    path: Path,
    power: Int8,
    interval: TimeSpan
  ) -> Scene.Transmitter {
    let frame = IBeacon(uuid: uuid, major: major, minor: minor, measuredPower: power)
    return Scene.Transmitter(
      name: name,
      beacon: .proximity(uuid, major: major, minor: minor),
      payloads: [Frame.iBeacon(frame).legacyPayload],
      measuredPower: power,
      address: address(uuid, major, minor),
      path: path,
      power: Double(power),
      interval: interval
    )
  }

  /// A static random address made of the identity, so that each identity of a scene has its own.
  static func address(_ uuid: UUID128, _ major: UInt16, _ minor: UInt16) -> DeviceAddress {
    let bits = 0xC400_0000_0000 | (uuid.low & 0xFF) << 32 | UInt64(major) << 16 | UInt64(minor)
    return DeviceAddress(bits: bits, kind: .random)
  }

  /// A gateway's identity: a Minew-like address with a number at its end.
  package static func gateway(_ number: UInt64) -> ObserverID { .eui48(0xAC23_3FA0_0000 | number) }

  /// A stop on a way.
  static func stop(_ x: Double, _ y: Double, for seconds: Double = 0) -> Path.Stop {
    Path.Stop(Point(x: x, y: y), dwell: .seconds(seconds))
  }

  /// A place that is never left.
  static func at(_ x: Double, _ y: Double) -> Path { Path(at: Point(x: x, y: y)) }

  /// A wall that runs north, with a doorway two metres wide in its middle.
  static func doorwayWall(x: Double, from south: Double, to north: Double, attenuation: Double) -> [Wall] {
    let middle = (south + north) / 2
    return [
      Wall(from: Point(x: x, y: south), to: Point(x: x, y: middle - 1), attenuation: attenuation),
      Wall(from: Point(x: x, y: middle + 1), to: Point(x: x, y: north), attenuation: attenuation),
    ]
  }

  /// A wall that runs east.
  static func wall(y: Double, from west: Double, to east: Double, attenuation: Double) -> Wall {
    Wall(from: Point(x: west, y: y), to: Point(x: east, y: y), attenuation: attenuation)
  }

  /// A rectangular area.
  static func area(
    _ name: String,
    _ west: Double,
    _ south: Double,
    _ east: Double,
    _ north: Double
  ) -> Scene.Area {
    Scene.Area(
      name: name,
      shape: Polygon(rectangleFrom: Point(x: west, y: south), to: Point(x: east, y: north))
    )
  }
}
