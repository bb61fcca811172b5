import PharosReports

extension LossPool {
  /// Writes what the tracks have taught.
  func write(to writer: inout FieldWriter) {
    for band in [strong, middle, weak] {
      for count in band.numbers { writer.write(count) }
    }
    writer.write(UInt8(clamping: agreeing))
    for number in [interval, rival, slowest, slowShare, looks, edgeTime, hidings, watchTime, shadows] {
      writer.write(number)
    }
  }

  /// Reads what the tracks have taught.
  init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    strong = try Band(from: &reader)
    middle = try Band(from: &reader)
    weak = try Band(from: &reader)
    agreeing = Int(try reader.small("agreeing tracks", through: 8))
    interval = try reader.amount("a family's interval")
    rival = try reader.amount("a family's other interval")
    slowest = try reader.amount("a family's slowest interval")
    slowShare = try reader.amount("a share of tracks at rest")
    looks = try reader.amount("looks")
    edgeTime = try reader.amount("time at the edge")
    hidings = try reader.amount("hidings")
    watchTime = try reader.amount("time watched")
    shadows = try reader.amount("shadows")
  }
}

extension LossPool.Band {
  fileprivate var numbers: [Float] {
    [
      counts.received, counts.runs, counts.lost, counts.longRuns, counts.longLost, counts.longestRuns,
      counts.longestLost, dispersion, stretches,
    ]
  }

  fileprivate init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    counts.received = try reader.amount("adverts of a pool")
    counts.runs = try reader.amount("runs of a pool")
    counts.lost = try reader.amount("losses of a pool")
    counts.longRuns = try reader.amount("long runs of a pool")
    counts.longLost = try reader.amount("long losses of a pool")
    counts.longestRuns = try reader.amount("longest runs of a pool")
    counts.longestLost = try reader.amount("longest losses of a pool")
    dispersion = try reader.amount("a pool's dispersion")
    stretches = try reader.amount("stretches of a pool")
  }
}
