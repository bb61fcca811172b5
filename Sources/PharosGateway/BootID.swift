package import PharosReports

/// The number by which a receiver tells a gateway's present start from its earlier ones: it has to grow.
///
/// The seconds of the wall clock do that for as long as the clock is right at every start: they grow by themselves, need no
/// storage, and fit into 32 bits until the year 2106. A clock that is behind at a start gives a number that is too low.
/// Receivers of signed datagrams then refuse everything as older than what they know, and must, since a copy of old
/// traffic looks the same. A Raspberry Pi has no clock of its own and may come up an hour behind. So a gateway with a
/// place to write keeps the last number there, and the next one is always higher: see ``BootFile``.
package enum BootID {
  /// The number of a start.
  ///
  /// - Parameters:
  ///   - wall: the wall clock, right or wrong.
  ///   - last: the number of the start before, if it was kept.
  /// - Returns: the seconds of the clock, or one more than the last number where that is higher.
  package static func next(wall: Timestamp, last: UInt32?) -> UInt32 {
    let seconds = UInt32(clamping: wall.nanoseconds / 1_000_000_000)
    guard let last else { return seconds }
    return max(seconds, last == .max ? .max : last + 1)
  }
}
