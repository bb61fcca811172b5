package import FuzzSupport

/// The fuzz targets of sites, recordings, checkpoints and maps.
package let engineTargets: [any FuzzTarget.Type] = [
  SiteTarget.self,
  DocumentsTarget.self,
  VenueTarget.self,
  RecordingsTarget.self,
  InputsTarget.self,
  CheckpointsTarget.self,
  HandsetsTarget.self,
  EventsTarget.self,
  RadioMapTarget.self,
]
