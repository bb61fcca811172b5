/// Some seconds of a site's traffic that are sent over and over, with numbers that go on.
///
/// Made ahead, since making them takes longer than sending them.
package struct TrafficLoop: Sendable {
  /// How many seconds there are.
  ///
  /// More than beacons' losses take to even out, less than 30 MB.
  package static let seconds = 8

  /// The length of each datagram in bytes.
  package let length: Int
  /// How many adverts each datagram has.
  package let adverts: Int
  /// The datagrams of each second.
  private var bytes: [[UInt8]] = []
  private var position = 0

  /// Makes the datagrams, whose numbers follow those of what the traffic has given so far.
  ///
  /// - Parameters:
  ///   - traffic: the site's traffic.
  ///   - adverts: how many adverts a datagram has.
  package init(_ traffic: inout SiteTraffic, adverts: Int) {
    self.adverts = adverts
    var length = 0
    for _ in 0..<TrafficLoop.seconds {
      let second = traffic.nextSecond(adverts: adverts)
      bytes.append(second.bytes)
      length = second.length
    }
    self.length = length
  }

  /// How many datagrams a second has.
  package var datagrams: Int { SiteTraffic.datagrams(adverts: adverts) }

  /// Hands out the datagrams of the next second.
  package mutating func withNextSecond<Result>(_ body: ([UInt8]) throws -> Result) rethrows -> Result {
    defer { renumber(position) }
    defer { position = (position + 1) % TrafficLoop.seconds }
    return try body(bytes[position])
  }

  /// Gives the datagrams of a second the numbers that they have when they are sent next.
  private mutating func renumber(_ second: Int) {
    let step = UInt32(TrafficLoop.seconds * SiteTraffic.heard / adverts)
    let length = length
    bytes[second].withUnsafeMutableBytes { bytes in
      for datagram in stride(from: 0, to: bytes.count, by: length) {
        let place = datagram + SiteTraffic.sequenceOffset
        let number = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        bytes.storeBytes(of: (number &+ step).bigEndian, toByteOffset: place, as: UInt32.self)
      }
    }
  }
}
