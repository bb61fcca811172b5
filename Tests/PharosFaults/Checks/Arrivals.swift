/// What the server can know of who is where: when adverts of a transmitter arrived from a station.
///
/// What a run learned behind its last checkpoint is gone with it.
struct Arrivals {
  private struct Arrival {
    var hearing: Station.Hearing
    var station: Int
    var time: TrueTime
  }

  private var arrivals: [Arrival] = []
  /// When anything arrived from each station, whatever became of it.
  private var contacts: [Int: [TrueTime]] = [:]
  /// Up to when what arrived is kept, whatever happens to the run.
  private var keptThrough: TrueTime = 0

  /// Notes that something arrived from a station.
  mutating func noteContact(with station: Int, at time: TrueTime) {
    contacts[station, default: []].append(time)
  }

  /// When something arrived from a station for the last time up to a time, and for the first time behind it; in between nobody can
  /// know what it heard.
  func contacts(with station: Int, around time: TrueTime) -> (last: TrueTime?, first: TrueTime?) {
    guard let times = contacts[station] else { return (nil, nil) }
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] > time { high = middle } else { low = middle + 1 }
    }
    return (low > 0 ? times[low - 1] : nil, low < times.count ? times[low] : nil)
  }

  /// Notes which adverts arrived from a station.
  mutating func note(_ hearings: Set<Station.Hearing>, from station: Int, at time: TrueTime) {
    for hearing in hearings { arrivals.append(Arrival(hearing: hearing, station: station, time: time)) }
  }

  /// A checkpoint of a time is on the disk.
  mutating func keep(through time: TrueTime) { keptThrough = max(keptThrough, time) }

  /// The run is gone.
  mutating func endRun() { arrivals.removeAll { $0.time > keptThrough } }

  /// Whether the server knows from what came in a time that a station has heard so many adverts of a transmitter.
  func know(_ transmitter: Int, at station: Int, in span: Range<TrueTime>, adverts: Int = 1) -> Bool {
    var times: Set<TrueTime> = []
    for arrival in arrivals where arrival.station == station && span.contains(arrival.time) {
      guard arrival.hearing.transmitter == transmitter else { continue }
      times.insert(arrival.hearing.time)
      if times.count >= adverts { return true }
    }
    return false
  }
}
