import PharosModel

/// A time without end, as the simulation counts it: nanoseconds since its beginning.
package typealias TrueTime = Int64

extension TrueTime {
  /// So many seconds.
  static func seconds(_ seconds: Double) -> TrueTime { TrueTime(seconds * 1e9) }
}

/// What is in the air: who can be heard by whom, and when.
package struct Truth {
  /// A time in which a transmitter can be heard by a station.
  package struct Stay {
    var transmitter: Int
    package var station: Int
    package var span: Range<TrueTime>
    /// Indicates whether it is far from the station, where its level is low.
    var isFar = false

    package init(transmitter: Int, station: Int, span: Range<TrueTime>) {
      self.transmitter = transmitter
      self.station = station
      self.span = span
    }
  }

  /// Stays in no order.
  package private(set) var stays: [Stay] = []
  /// The times at which single adverts of a transmitter that is elsewhere reach a station.
  private var reflections: [Reception: [TrueTime]] = [:]

  private struct Reception: Hashable {
    var transmitter: Int
    var station: Int
  }

  /// For so long a transmitter counts as moving behind its arrival.
  private static let movingTime = TrueTime.seconds(20)

  package init() {}

  /// Adds a stay.
  package mutating func add(_ stay: Stay) { if !stay.span.isEmpty { stays.append(stay) } }

  /// Adds a single advert that reaches a station although the transmitter is elsewhere.
  mutating func add(reflectionOf transmitter: Int, at station: Int, _ time: TrueTime) {
    reflections[Reception(transmitter: transmitter, station: station), default: []].append(time)
  }

  /// Removes the single adverts that reach a station.
  mutating func removeReflections(at station: Int) {
    reflections = reflections.filter { $0.key.station != station }
  }

  /// Whether a station can hear a transmitter.
  package func isAudible(_ transmitter: Int, at station: Int, _ time: TrueTime) -> Bool {
    stay(of: transmitter, at: station, time) != nil
  }

  /// The stay of a transmitter at a station, if it is there.
  func stay(of transmitter: Int, at station: Int, _ time: TrueTime) -> Stay? {
    stays.first { $0.transmitter == transmitter && $0.station == station && $0.span.contains(time) }
  }

  /// Returns the times of the reflections that reach a station.
  func reflections(of transmitter: Int, at station: Int, in span: Range<TrueTime>) -> [TrueTime] {
    reflections[Reception(transmitter: transmitter, station: station)]?.filter(span.contains) ?? []
  }

  /// Indicates whether a transmitter has arrived anywhere lately.
  func isMoving(_ transmitter: Int, at time: TrueTime) -> Bool {
    stays.contains { stay in
      stay.transmitter == transmitter && stay.span.contains(time)
        && time - stay.span.lowerBound < Truth.movingTime
    }
  }

  /// The times in which one of the stations can hear one of the transmitters, in order and apart.
  ///
  /// - Parameters:
  ///   - transmitters: the transmitters.
  ///   - stations: the stations.
  ///   - isClose: whether only the times count in which a transmitter is beside the station.
  /// - Returns: the times.
  package func spans(
    of transmitters: Set<Int>,
    at stations: Set<Int>,
    isClose: Bool = false
  ) -> [Range<TrueTime>] {
    var spans: [Range<TrueTime>] = []
    for stay in stays.filter({ stay in
      transmitters.contains(stay.transmitter) && stations.contains(stay.station) && !(isClose && stay.isFar)
    })
    .sorted(by: { $0.span.lowerBound < $1.span.lowerBound }) {
      if let last = spans.last, stay.span.lowerBound <= last.upperBound {
        spans[spans.count - 1] = last.lowerBound..<Swift.max(last.upperBound, stay.span.upperBound)
      } else {
        spans.append(stay.span)
      }
    }
    return spans
  }
}

extension Array where Element == Range<TrueTime> {
  /// How much of a window the spans, which are in order and apart, leave free.
  package func absence(in window: Range<TrueTime>) -> TrueTime {
    var absent = window.upperBound - window.lowerBound
    for span in self where span.overlaps(window) { absent -= TrueTime(span.clamped(to: window).count) }
    return absent
  }

  /// Whether a time lies in one of the spans.
  package func covers(_ time: TrueTime) -> Bool { contains { $0.contains(time) } }
}

/// Something that advertises.
struct Transmitter {
  /// Its payload: an iBeacon, or a frame of no region.
  var payload: [UInt8]
  var address: DeviceAddress
  /// Its identity; nil for an untracked device.
  var beacon: BeaconID?
  /// Between two adverts.
  var interval: TrueTime
  /// When its first advert is.
  var phase: TrueTime
  /// At rest it sends one of so many adverts.
  var restRatio = 1
  /// The time after which it takes another address, if it does.
  var addressPeriod: TrueTime?

  /// The address at a time: a resolvable private one where it changes.
  func address(at time: TrueTime) -> DeviceAddress {
    guard let addressPeriod else { return address }
    let number = UInt64(time / addressPeriod) &* 0x9E37_79B9_7F4A_7C15 ^ address.bits
    return DeviceAddress(bits: number & 0x3FFF_FFFF_FFFF | 0x4000_0000_0000, kind: .random)
  }

  /// A tag or fixed beacon of the site.
  static func beacon(
    _ uuid: UUID128,
    major: UInt16,
    minor: UInt16,
    interval: TrueTime,
    phase: TrueTime
  ) -> Transmitter {
    var bytes: [UInt8] = [0x02, 0x01, 0x06, 0x1A, 0xFF, 0x4C, 0x00, 0x02, 0x15]
    for word in [uuid.high, uuid.low] {
      for shift in stride(from: UInt64(56), through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    for word in [major, minor] { bytes += [UInt8(word >> 8), UInt8(word & 0xFF)] }
    return Transmitter(
      payload: bytes + [0xC5],
      address: DeviceAddress(bits: 0xAC23_3F00_0000 | UInt64(major) << 16 | UInt64(minor), kind: .public),
      beacon: .proximity(uuid, major: major, minor: minor),
      interval: interval,
      phase: phase
    )
  }

  /// A device that no region matches.
  static func passerBy(_ number: Int, interval: TrueTime, phase: TrueTime) -> Transmitter {
    Transmitter(
      payload: [0x02, 0x01, 0x06, 0x05, 0xFF, 0x4C, 0x00, 0x10, UInt8(truncatingIfNeeded: number)],
      address: DeviceAddress(bits: 0x0011_2200_0000 | UInt64(number), kind: .public),
      beacon: nil,
      interval: interval,
      phase: phase
    )
  }
}
