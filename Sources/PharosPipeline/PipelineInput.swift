public import PharosReports

/// One input of a pipeline, as a capture or a recording gives it.
public enum PipelineInput: Sendable {
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
}
