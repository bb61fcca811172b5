package import FuzzSupport

/// The fuzz targets of signed datagrams.
package let signingTargets: [any FuzzTarget.Type] = [
  SigningTarget.self
]
