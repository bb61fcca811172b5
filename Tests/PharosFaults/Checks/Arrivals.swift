/// What the server can know of who is where: when adverts of a transmitter arrived from a station.
///
/// What a run learned behind its last checkpoint is gone with it.
struct Arrivals {
  private struct Arrival {
    var transmitter: Int
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

  /// When something arrived from a station for the first time behind another time; until then nobody can know what it heard.
  func firstContact(with station: Int, after time: TrueTime) -> TrueTime? {
    guard let times = contacts[station] else { return nil }
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] > time { high = middle } else { low = middle + 1 }
    }
    return low < times.count ? times[low] : nil
  }

  /// Notes whose adverts arrived from a station.
  mutating func note(_ transmitters: Set<Int>, from station: Int, at time: TrueTime) {
    for transmitter in transmitters {
      arrivals.append(Arrival(transmitter: transmitter, station: station, time: time))
    }
  }

  /// A checkpoint of a time is on the disk.
  mutating func keep(through time: TrueTime) { keptThrough = max(keptThrough, time) }

  /// The run is gone.
  mutating func endRun() { arrivals.removeAll { $0.time > keptThrough } }

  /// Whether the server knows that a station has heard a transmitter in a time.
  func know(_ transmitter: Int, at station: Int, in span: Range<TrueTime>) -> Bool {
    arrivals.contains { $0.transmitter == transmitter && $0.station == station && span.contains($0.time) }
  }
}
