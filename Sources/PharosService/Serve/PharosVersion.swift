/// Which Pharos this is.
package enum PharosVersion {
  /// The version, as `/v1/status`, metrics and `pharos --version` tell it.
  package static let text = "0.5.0"
}
