/// What the two stages make of it.
extension MetricFamily {
  static let adverts = counter(
    "pharos_monitoring_adverts_total",
    "Adverts and ranged beacons, by whether somebody asks about them: matched or unmatched",
    by: "interest"
  )
  static let late = counter("pharos_monitoring_late_total", "Reports older than their observer's lag allows")
  static let joined = counter(
    "pharos_monitoring_adverts_joined_total",
    "Adverts that joined the sample before them: other channels, scan responses"
  )
  static let withoutLevel = counter(
    "pharos_monitoring_adverts_without_level_total",
    "Adverts without a signal level"
  )
  static let backwards = counter(
    "pharos_monitoring_backwards_total",
    "Reports whose receive time lay before an earlier one's and was moved to it"
  )
  static let sequenceGaps = counter(
    "pharos_monitoring_datagrams_missing_total",
    "Datagrams that never came, by their sequence numbers"
  )
  static let sequenceRepeats = counter(
    "pharos_monitoring_datagrams_repeated_total",
    "Datagrams that came twice, by their sequence numbers"
  )
  static let restarts = counter("pharos_monitoring_observer_restarts_total", "Restarts of observers")
  static let staleBoots = counter(
    "pharos_monitoring_datagrams_stale_total",
    "Datagrams of a boot that a later one had replaced"
  )
  static let outages = counter("pharos_monitoring_outages_total", "Outages of observers")
  static let quarantined = counter(
    "pharos_monitoring_reports_quarantined_total",
    "Reports of observers that are neither listed nor accepted, which changed nothing"
  )
  static let evictions = counter(
    "pharos_monitoring_evictions_total",
    "What gave way because there was too much of it: track or observer",
    by: "table"
  )
  static let tracks = gauge("pharos_monitoring_tracks", "Tracks kept: one for each observer and beacon")
  static let observers = gauge(
    "pharos_monitoring_observers",
    "Observers known, by state: up or down",
    by: "state"
  )
  static let summaries = counter("pharos_positioning_summaries_total", "Summaries of tracks compared")
  static let presenceChanges = counter(
    "pharos_positioning_presence_changes_total",
    "Changes of presence compared"
  )
  static let strayChanges = counter(
    "pharos_positioning_presence_changes_stray_total",
    "Changes of presence for a region that is no longer monitored"
  )
  static let crowdedOut = counter(
    "pharos_positioning_hearings_crowded_out_total",
    "Presence changes ignored because too many other observers hear the beacon"
  )
  static let tagEvictions = counter(
    "pharos_positioning_evictions_total",
    "Beacons forgotten because there were too many"
  )
  static let tags = gauge("pharos_positioning_tags", "Beacons that a state is kept for")

  static let engine = [
    adverts, late, joined, withoutLevel, backwards, sequenceGaps, sequenceRepeats, restarts, staleBoots,
    outages, quarantined, evictions, tracks, observers, summaries, presenceChanges, strayChanges, crowdedOut,
    tagEvictions, tags,
  ]
}
