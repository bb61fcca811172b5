import FuzzSupport

@testable import FuzzDecoders

FuzzProgram.run([
  PcapTarget.self,
  PcapngTarget.self,
  BtsnoopTarget.self,
  LinkTypesTarget.self,
  TracesTarget.self,
  GzipTarget.self,
  TextsTarget.self,
  FieldsTarget.self,
])
