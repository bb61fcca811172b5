import CPharos
import Glibc

/// The resources that this process uses, as far as the system reports them.
package struct ProcessUsage: Hashable, Sendable {
  /// Processor time, user and system together.
  ///
  /// - Units: seconds.
  var cpuSeconds: Double
  /// The memory that is really there.
  ///
  /// - Units: bytes.
  var residentBytes: Int?
  /// The descriptors that are open.
  var openDescriptors: Int?
  /// The maximum number of open descriptors.
  var maximumDescriptors: Int?
  /// Its threads.
  var threads: Int?

  /// Asks the system.
  package static func current() -> ProcessUsage {
    var limit = rlimit()
    let hasLimit = getrlimit(descriptorLimit, &limit) == 0
    let status = ProcessUsage.status()
    return ProcessUsage(
      cpuSeconds: Double(pharos_clock_processor()) / 1e9,
      residentBytes: status["VmRSS"].map { $0 * 1_024 },
      openDescriptors: openDescriptorCount(),
      maximumDescriptors: hasLimit ? Int(clamping: limit.rlim_cur) : nil,
      threads: status["Threads"]
    )
  }

  fileprivate static let descriptorLimit = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

  /// The numbers of `/proc/self/status`, by their names; empty where there is no such file.
  private static func status() -> [String: Int] {
    guard let file = fopen("/proc/self/status", "re") else { return [:] }
    defer { fclose(file) }
    var numbers: [String: Int] = [:]
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let words = text.split { $0 == ":" || $0.isWhitespace }
      guard words.count >= 2, let number = Int(words[1]) else { continue }
      numbers[String(words[0])] = number
    }
    return numbers
  }

  private static func openDescriptorCount() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Two entries are the folder and its parent, one is the descriptor that reads the folder.
    return max(0, count - 3)
  }
}

/// The limit on the number of open descriptors of the process.
enum DescriptorLimit {
  /// Raises the soft limit to the hard one, as far as the system lets it.
  ///
  /// The soft limit of 1,024 that systems start programs with is for those that still use `select`; live streams need
  /// thousands.
  ///
  /// - Source: the notes of systemd, "File Descriptor Limits".
  static func raise() {
    var limit = rlimit()
    guard getrlimit(ProcessUsage.descriptorLimit, &limit) == 0, limit.rlim_cur < limit.rlim_max else {
      return
    }
    limit.rlim_cur = limit.rlim_max
    // Where it is refused, what there is stays, and the HTTP interface fits itself in.
    _ = setrlimit(ProcessUsage.descriptorLimit, &limit)
  }
}
