package import PharosReports

/// One input of a pipeline, as a capture or a recording gives it.
package enum PipelineInput: Sendable {
  /// The site that a recording was made with: the pipeline is to be made from it.
  case site(Site)
  /// What the server went on from when it started again: comes right behind the site.
  case restored(Restoration, at: Timestamp)
  /// Reports, in order of their receive times.
  case reports(ReportBatch)
  /// A change of the regions.
  case change(RegionChange, at: Timestamp)
  /// An edited site that took the place of the one before.
  case adoption(Site, at: Timestamp)
  /// All inputs up to here were given.
  case tick(through: Timestamp)
  /// The wall clock was set by so much.
  case clockStep(TimeSpan, at: Timestamp)
  /// The server stood still from an instant to a later one.
  case pause(through: Timestamp, at: Timestamp)

  /// How long a server stands still at least for it to count: half of the shortest silence that a beacon may leave by.
  ///
  /// Anything shorter is over before a deadline that it may have torn.
  package static let leastPause = TimeSpan.seconds(1)
}
