import PharosDocuments
import PharosModel
import PharosNarration
import PharosRooms

/// The zones that were nearly reported of one beacon.
struct RoomStory {
  /// A time in which one zone was the most probable of those that the beacon was not in.
  struct Episode {
    var from: Timestamp
    var until: Timestamp
    /// The zone as it was when it came closest, and the time of that.
    var closest: ZoneRival
    var closestAt: Timestamp

    /// The part of the probability that it needed.
    var share: Double { closest.probability / (closest.needed ?? 1) }
  }

  /// The maximum number of episodes that are kept: the closest.
  static let maximumEpisodes = 3
  /// The part of the needed probability from which on a zone was nearly reported.
  private static let minimumShare = 0.5
  /// The pause between two looks at a beacon, as often as its levels come.
  private static let pause = SecondSummary.length
  /// The pause that ends an episode.
  private static let maximumPause = TimeSpan.seconds(5)

  /// The closest episodes.
  private(set) var episodes: [Episode] = []
  private var present: Episode?
  private var lookedAt = Timestamp.distantPast

  /// Returns whether the beacon should be looked at again.
  func isDue(at instant: Timestamp) -> Bool { instant - lookedAt >= RoomStory.pause }

  /// Takes the zone that the beacon is in, and the one that would be reported next.
  ///
  /// What led to a report was no near miss.
  mutating func look(_ zone: String?, _ rival: ZoneRival?, at instant: Timestamp) {
    lookedAt = instant
    if let zone, present?.closest.zone == zone { present = nil }
    if let present, present.closest.zone != rival?.zone || instant - present.until > RoomStory.maximumPause {
      close()
    }
    guard let rival else { return }
    var episode = present ?? Episode(from: instant, until: instant, closest: rival, closestAt: instant)
    episode.until = instant
    let share = rival.probability / (rival.needed ?? 1)
    if share > episode.share { (episode.closest, episode.closestAt) = (rival, instant) }
    present = episode
  }

  /// Ends the present episode.
  mutating func close() {
    guard let episode = present else { return }
    present = nil
    guard episode.share >= RoomStory.minimumShare else { return }
    episodes.append(episode)
    guard episodes.count > RoomStory.maximumEpisodes else { return }
    let minimum = episodes.indices.min { episodes[$0].share < episodes[$1].share }
    if let minimum { episodes.remove(at: minimum) }
  }
}

extension Narrator {
  /// Returns a sentence for each zone that was nearly reported of a beacon, with the evidence that was missing.
  func nearlyReported(_ episodes: [RoomStory.Episode]) -> [String] {
    episodes.map { episode in
      let (rival, name) = (episode.closest, episode.closest.zone)
      var missing: [String] = []
      if let lead = rival.lead, let neededLead = rival.neededLead, let next = rival.next, lead < neededLead {
        missing.append(
          "\(RoomStory.decibels(neededLead - lead)) more than its lead of \(RoomStory.decibels(lead)) over \(next)"
        )
      }
      if let evidence = rival.evidence, let next = rival.next {
        let fit = "\(Wording.decimal(evidence, places: 1))\u{A0}nats"
        missing.append(
          "levels that fit its fingerprint more clearly than that of \(next) (\(fit) at this look)"
        )
      }
      if rival.needed == nil { missing.append("a longer time of being heard") }
      if let waited = rival.waited, let needed = rival.neededWait, waited < needed {
        missing.append("\(Wording.span(needed - waited)) more of certainty, as no door is known")
      }
      if missing.isEmpty { missing.append("more levels like these") }
      let needed = rival.needed.map { " of the \(Wording.percent($0)) that it takes" } ?? ""
      return
        "\(name) was nearly its zone at \(Wording.clock(episode.closestAt)): \(Wording.percent(rival.probability)) probable"
        + "\(needed). Missing: \(Wording.list(missing))."
    }
  }
}

extension RoomStory {
  fileprivate static func decibels(_ value: Double) -> String {
    "\(Wording.decimal(value, places: 1))\u{A0}dB"
  }
}
