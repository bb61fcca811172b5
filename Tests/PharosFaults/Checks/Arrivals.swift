/// What the server can know of who is where: when it read adverts of a transmitter from a station.
///
/// What a run learned behind its last checkpoint is gone with it.
struct Arrivals {
  private struct Arrival {
    var hearing: Station.Hearing
    var station: Int
    /// When the server read it.
    var time: TrueTime
    /// Whether the datagram tells when it was heard.
    var isDated: Bool
  }

  /// Reports that seem no further apart are of one transmission to the server.
  ///
  /// - Source: `TrackHandle.joinSpan` of PharosPresence.
  private static let joined: TrueTime = 15_000_000

  /// For so long behind a flood a station's table may be full, so that no new transmitter has a track.
  ///
  /// - Source: the silence that PharosPresence allows to a beacon of unknown interval, and the longest delay of the network.
  private static let floodedTime = TrueTime.seconds(60 + Network.maximumDelay + 1)

  private var arrivals: [Arrival] = []
  /// When invented identities were sent from each station.
  private var floods: [Int: [TrueTime]] = [:]
  /// When anything arrived from each station, whatever became of it.
  private var contacts: [Int: [TrueTime]] = [:]
  /// Up to when what arrived is kept, whatever happens to the run.
  private var keptThrough: TrueTime = 0

  /// Notes that something arrived from a station.
  mutating func recordContact(with station: Int, at time: TrueTime) {
    contacts[station, default: []].append(time)
  }

  /// When something arrived from a station for the last time up to a time, and for the first time behind it; in
  /// between it is unknown what it heard.
  func contacts(with station: Int, around time: TrueTime) -> (last: TrueTime?, first: TrueTime?) {
    guard let times = contacts[station] else { return (nil, nil) }
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] > time { high = middle } else { low = middle + 1 }
    }
    return (low > 0 ? times[low - 1] : nil, low < times.count ? times[low] : nil)
  }

  /// Notes which adverts the server read from a station.
  mutating func record(
    _ hearings: Set<Station.Hearing>,
    from station: Int,
    at time: TrueTime,
    isDated: Bool
  ) {
    for hearing in hearings {
      arrivals.append(Arrival(hearing: hearing, station: station, time: time, isDated: isDated))
    }
  }

  /// Notes that a station sends invented identities.
  mutating func recordFlood(of station: Int, at time: TrueTime) { floods[station, default: []].append(time) }

  private func isFlooded(_ station: Int, at time: TrueTime) -> Bool {
    floods[station]?.contains { time >= $0 && time - $0 < Arrivals.floodedTime } ?? false
  }

  /// A checkpoint of a time is on the disk.
  mutating func keep(through time: TrueTime) { keptThrough = max(keptThrough, time) }

  /// The checkpoint is gone, and what it held.
  mutating func forgetAll() {
    keptThrough = 0
    arrivals = []
  }

  /// The run is gone.
  mutating func endRun() { arrivals.removeAll { $0.time > keptThrough } }

  /// Whether the server knows from what it read in a time that a station has heard a transmitter.
  ///
  /// Adverts that tell no time and are read at one instant, as after a pause, are one advert that was reported more than once as far
  /// as the server can know.
  func know(_ transmitter: Int, at station: Int, in span: Range<TrueTime>) -> Bool {
    !adverts(of: transmitter, at: station, in: span).isEmpty
  }

  /// Returns whether the server was given enough adverts of a transmitter by a station in a time to enter it there: two within a
  /// window, or five of one that it hears less often, as network delays may hide how regular fewer are.
  func canEnter(
    _ transmitter: Int,
    at station: Int,
    in span: Range<TrueTime>,
    window: TrueTime
  ) -> Bool {
    let times = adverts(of: transmitter, at: station, in: span).filter { !isFlooded(station, at: $0) }
    return times.count >= 5 || zip(times, times.dropFirst()).contains { $1 - $0 <= window }
  }

  /// Returns whether the server read one advert of a transmitter from a station more than once.
  func isRepeated(_ hearing: Station.Hearing, at station: Int) -> Bool {
    arrivals.count { $0.station == station && $0.hearing == hearing } > 1
  }

  /// The times of the adverts of a transmitter that the server read from a station in a time, in order, as far as it can tell them
  /// apart.
  private func adverts(of transmitter: Int, at station: Int, in span: Range<TrueTime>) -> [TrueTime] {
    var heard: Set<TrueTime> = []
    var times: [TrueTime] = []
    for arrival in arrivals where arrival.station == station && span.contains(arrival.time) {
      guard arrival.hearing.transmitter == transmitter, heard.insert(arrival.hearing.time).inserted else {
        continue
      }
      times.append(arrival.isDated ? arrival.hearing.time : arrival.time)
    }
    times.sort()
    var adverts: [TrueTime] = []
    for time in times where adverts.last.map({ time - $0 > Arrivals.joined }) ?? true { adverts.append(time) }
    return adverts
  }
}
