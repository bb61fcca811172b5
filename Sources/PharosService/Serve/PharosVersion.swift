/// Which Pharos this is.
public enum PharosVersion {
  /// The version, as `/v1/status`, metrics and `pharos --version` tell it.
  public static let text = "0.5.0"
}
