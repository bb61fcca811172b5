import Foundation

/// What a process takes of the machine, as `/proc` tells.
package struct ProcessUse: Sendable {
  /// Resident memory.
  ///
  /// - Units: bytes.
  package var resident: Int
  /// Open descriptors.
  package var descriptors: Int
  /// Threads.
  package var threads: Int

  /// Asks about a process; nil once it is gone.
  package init?(of process: Int32) {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
      let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    else { return nil }
    func number(_ name: String) -> Int? {
      guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("\(name):") }) else {
        return nil
      }
      return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
    guard let resident = number("VmRSS"), let threads = number("Threads") else { return nil }
    self.resident = resident * 1_024
    self.threads = threads
    descriptors = open.count
  }

  /// How many tasks wait for a core of this machine, averaged over the last minute.
  package static var machineLoad: Double {
    let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
    return text.split(separator: " ").first.flatMap { Double($0) } ?? 0
  }
}
