import ArgumentParser
import Foundation

/// A program that measures.
enum Source: String, CaseIterable, ExpressibleByArgument, Codable {
  /// Socket to engine beside a bare C loop, and two loops beside one.
  case throughput
  /// The engine from a thousand to a million tracks.
  case scale
  /// Socket to subscriber.
  case latency
  /// Positions: time and memory for each subject.
  case fixes
  /// `pharos process` over a capture in the page cache.
  case process
  /// The suites, which have no target of their own and are compared with the baseline alone.
  case suites

  /// Runs it and gives its figures by their names.
  func figures(_ workshop: Workshop, quick: Bool) throws -> [String: Double] {
    switch self {
    case .throughput, .scale, .latency, .fixes:
      try workshop.run(rawValue, arguments: quick ? ["--quick"] : [])
    case .process: try ProcessRate(workshop).figures(quick: quick)
    case .suites: [:]
    }
  }
}
