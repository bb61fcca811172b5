import FuzzSupport

@testable import FuzzWire

FuzzProgram.run([
  AdvertsTarget.self,
  DatagramsTarget.self,
  RaddecTarget.self,
  PharosDatagramsTarget.self,
  JSONDatagramsTarget.self,
  IngicsTarget.self,
  HuaweiTarget.self,
  MinewTarget.self,
  JSONTextTarget.self,
])
