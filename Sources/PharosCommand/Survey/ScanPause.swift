import ArgumentParser
import PharosService

/// How far apart Wi-Fi scans are at least: a time, or `never`.
struct ScanPause: ExpressibleByArgument {
  let span: TimeSpan

  init?(argument: String) {
    if argument == "never" {
      span = .forever
    } else {
      guard let span = TimeSpan(written: argument), span >= .zero else { return nil }
      self.span = span
    }
  }
}
