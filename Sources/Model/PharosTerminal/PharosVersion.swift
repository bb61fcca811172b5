/// The version of Pharos.
package enum PharosVersion {
  /// The version, as `/v1/status`, metrics and `pharos --version` report it.
  package static let text = "0.5.0"
}
