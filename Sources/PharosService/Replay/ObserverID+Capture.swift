import PharosReports

extension ObserverID {
  /// Who is taken to have heard a Bluetooth capture: the file's name without its folder and endings.
  static func ofCapture(at path: String) -> ObserverID {
    let file = path.split(separator: "/").last.map(String.init) ?? path
    let stem = String(file.split(separator: ".", maxSplits: 1).first ?? "capture")
    return ObserverID(stem) ?? ObserverID(stem.prefix(ObserverID.longestName / 4)) ?? .name("capture")
  }
}
