import FuzzSupport

@testable import FuzzEngine

FuzzProgram.run([
  SiteTarget.self,
  DocumentsTarget.self,
  VenueTarget.self,
  RecordingsTarget.self,
  InputsTarget.self,
  CheckpointsTarget.self,
  HandsetsTarget.self,
  EventsTarget.self,
  RadioMapTarget.self,
])
