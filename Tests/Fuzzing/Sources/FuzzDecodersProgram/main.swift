import FuzzSupport

@testable import FuzzDecoders

FuzzProgram.run([
  AdvertsTarget.self,
  DatagramsTarget.self,
  RaddecTarget.self,
  PharosDatagramsTarget.self,
  JSONDatagramsTarget.self,
  IngicsTarget.self,
  HuaweiTarget.self,
  MinewTarget.self,
  PcapTarget.self,
  PcapngTarget.self,
  BtsnoopTarget.self,
  LinkTypesTarget.self,
  TracesTarget.self,
  GzipTarget.self,
  JSONTextTarget.self,
  TextsTarget.self,
  FieldsTarget.self,
  RadioMapTarget.self,
])
