import PharosReports
import Yams

extension SiteReading {
  private static let positioningKeys = ["interval", "lag", "particles", "tags"]

  /// How handsets and tags are located in the venues.
  func positioning(_ fields: SiteFields) -> PositioningSettings {
    var settings = PositioningSettings()
    let known = SiteReading.positioningKeys
    guard let entry = fields.fields("positioning", known: known) else { return settings }
    if let interval = time("interval", in: PositioningSettings.intervals, of: entry) {
      settings.interval = interval
    }
    if let lag = time("lag", in: PositioningSettings.lags, of: entry) { settings.lag = lag }
    settings.particles = entry.integer("particles", in: PositioningSettings.particleCounts)
    settings.tags = entry.list("tags", of: "constraints").compactMap { index, path, node in
      let place = "\(entry.place): tag \(index + 1)"
      return SiteFields(node, place: place, path: path, known: SiteIdentity.keys, problems: problems)
        .flatMap { identity($0)?.constraint }
    }
    if !fields.has("venues") {
      fields.warning("positioning", "positioning stands without venues: nothing is located")
    }
    return settings
  }

  private func time(_ key: String, in range: ClosedRange<TimeSpan>, of entry: SiteFields) -> TimeSpan? {
    guard let time = entry.time(key, allowingZero: range.lowerBound == .zero) else { return nil }
    guard range.contains(time) else {
      entry.mistake(
        key,
        "\(key) is \(time.written)",
        expected: "\(range.lowerBound.written) to \(range.upperBound.written)"
      )
      return nil
    }
    return time
  }
}
