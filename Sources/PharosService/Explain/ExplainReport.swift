import PharosReports

/// The result of `pharos explain`: the decisions that pass the filters, what else was considered, and a comparison with
/// fixed rules.
struct ExplainReport {
  let options: ExplainRunner.Options
  let findings: Findings
  let filter: ExplainFilter
  let narrator: Narrator
  /// The decisions that the filters leave.
  let decisions: [Decision]

  /// How many tracks without a decision among those told are looked at for what was considered.
  private static let mostTracks = 12
  /// How many tracks are drawn at most.
  static let mostPanels = 4

  init(options: ExplainRunner.Options, findings: Findings, filter: ExplainFilter) {
    self.options = options
    self.findings = findings
    self.filter = filter
    narrator = Narrator(findings)
    let taken = findings.decisions.filter(filter.takes).enumerated()
    // By the time of what happened; what is decided late stands where it belongs.
    decisions = taken.sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
  }

  /// The decisions that the report explains.
  var told: ArraySlice<Decision> { decisions.prefix(options.limit) }

  /// How many decisions the filters leave, but are not told.
  var untold: Int { decisions.count - told.count + findings.log.omitted }

  /// The tracks that the filters leave, those with most decisions first.
  var tracks: [TrackKey] {
    var counts: [TrackKey: Int] = [:]
    for decision in decisions { if let track = decision.track { counts[track, default: 0] += 1 } }
    return filter.tracks(in: findings).sorted { left, right in
      let (more, less) = (counts[left] ?? 0, counts[right] ?? 0)
      return more == less ? left < right : more > less
    }
  }

  /// The tracks for which the report lists what else was considered.
  var weighed: [TrackKey] { Array(tracks.prefix(ExplainReport.mostTracks)) }

  /// The rows that the filters leave and of which a fixed rule or Pharos told an exit.
  var compared: [(key: RowKey, story: RowStory)] {
    let shown = Set(tracks)
    return findings.log.rows.keys.sorted().compactMap { key in
      guard let story = findings.log.rows[key] else { return nil }
      guard filter.region.map({ $0 == key.region.region }) ?? true else { return nil }
      let isShown = shown.contains { track in
        let subject = key.subject
        return subject == .beacon(track.beacon) || subject == .observer(track.observer)
      }
      guard isShown else { return nil }
      let hasExit =
        story.visits.contains { $0.left != nil }
        || story.fixed.contains { $0.visits.contains { $0.left != nil } }
      return hasExit ? (key, story) : nil
    }
  }

  /// What is drawn: one track, or as many as a page holds where the filters leave several on purpose.
  var panels: [TimelinePanel] {
    let most = filter.observer == nil && filter.beacon == nil ? 1 : ExplainReport.mostPanels
    return tracks.prefix(most).compactMap { track in
      row(of: track).map { TimelinePanel(track: track, row: $0) }
    }
  }

  /// How many tracks would have been drawn too, were there more room.
  var tracksNotDrawn: Int { max(0, tracks.count - panels.count) }

  /// The row that a track's panel is about: the region named, or that with most decisions of this track.
  private func row(of track: TrackKey) -> RowKey? {
    guard let story = findings.tracks[track] else { return nil }
    var best: (row: RowKey, count: Int)?
    for region in story.regions.keys.sorted() {
      guard filter.region.map({ $0 == region.region }) ?? true else { continue }
      let candidates = [SubjectID.beacon(track.beacon), .observer(track.observer)]
        .map { RowKey(region: region, subject: $0) }
      guard let row = candidates.first(where: { findings.log.rows[$0] != nil }) else { continue }
      let count = decisions.filter { $0.track == track && $0.rows.contains(row) }.count
      if best.map({ count > $0.count }) ?? true { best = (row, count) }
    }
    return best?.row
  }
}
