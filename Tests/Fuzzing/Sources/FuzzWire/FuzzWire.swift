package import FuzzSupport

/// The fuzz targets of adverts and datagrams.
package let wireTargets: [any FuzzTarget.Type] =
  [AdvertsTarget.self, DatagramsTarget.self] + formatTargets + [JSONTextTarget.self]
