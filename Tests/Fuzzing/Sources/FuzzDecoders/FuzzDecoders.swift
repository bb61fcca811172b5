package import FuzzSupport

/// The fuzz targets of captures, files and texts.
package let decoderTargets: [any FuzzTarget.Type] = [
  PcapTarget.self,
  PcapngTarget.self,
  BtsnoopTarget.self,
  LinkTypesTarget.self,
  TracesTarget.self,
  GzipTarget.self,
  TextsTarget.self,
  FieldsTarget.self,
]
