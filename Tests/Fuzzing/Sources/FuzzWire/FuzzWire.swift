package import FuzzSupport

/// The fuzz targets of adverts and datagrams.
package let wireTargets: [any FuzzTarget.Type] = [
  AdvertsTarget.self,
  DatagramsTarget.self,
  RaddecTarget.self,
  PharosDatagramsTarget.self,
  JSONDatagramsTarget.self,
  IngicsTarget.self,
  HuaweiTarget.self,
  MinewTarget.self,
  MQTTTarget.self,
  MinewConnectTarget.self,
  AprilBrotherTarget.self,
  HCITextTarget.self,
  JSONTextTarget.self,
]
