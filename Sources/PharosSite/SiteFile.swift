import Yams

/// The reader of the site file: it turns YAML into a checked configuration, and reports every mistake with its line.
///
/// It is strict: it refuses the whole file for an unknown key, a value out of bounds or a name that refers to nothing,
/// and reports all mistakes together.
package enum SiteFile {
  /// The largest file that is read; a site of 10,000 regions takes 2 MB.
  ///
  /// - Units: bytes.
  package static let largest = 16 << 20

  /// Reads the text of a site file.
  ///
  /// - Parameters:
  ///   - text: the YAML.
  ///   - path: how messages call the file.
  /// - Returns: the configuration, with the warnings in it.
  /// - Throws: all mistakes together, and the warnings beside them.
  package static func parse(_ text: String, path: String) throws(SiteFileError) -> SiteConfiguration {
    let problems = SiteProblems()
    var configuration = SiteConfiguration()
    switch root(of: text) {
    case .failure(let problem):
      throw SiteFileError(path: path, problems: [problem])
    case .success(nil):
      break
    case .success(let node?):
      var reading = SiteReading(problems: problems)
      configuration = reading.configuration(of: node)
    }
    configuration.warnings = try problems.conclude(path: path)
    return configuration
  }

  /// Reads a site file's bytes; they must be UTF-8.
  ///
  /// - Throws: all mistakes together.
  package static func parse(bytes: [UInt8], path: String) throws(SiteFileError) -> SiteConfiguration {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let line = firstDamagedLine(of: bytes)
      throw SiteFileError(
        path: path,
        problems: [
          SiteProblem(line: line, severity: .mistake, message: "not UTF-8", expected: "a text file in UTF-8")
        ]
      )
    }
    return try parse(text, path: path)
  }

  private static func firstDamagedLine(of bytes: [UInt8]) -> Int {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let index = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
    return index + 1
  }

  /// A YAML text as a tree, or why it is none.
  enum Root {
    case success(Node?)
    case failure(SiteProblem)
  }

  /// Reads a YAML text.
  static func root(of text: String) -> Root {
    do {
      return .success(try Yams.compose(yaml: text))
    } catch {
      return .failure(problem(of: error, in: text))
    }
  }

  /// What the YAML parser stumbled over, in the words of the other mistakes.
  private static func problem(of error: any Error, in text: String) -> SiteProblem {
    switch error {
    case YamlError.scanner(let context, let problem, let mark, _),
      YamlError.parser(let context, let problem, let mark, _),
      YamlError.composer(let context, let problem, let mark, _):
      let situation = context.map { " \($0.text)" } ?? ""
      return SiteProblem(line: mark.line, severity: .mistake, message: "not YAML\(situation): \(problem)")
    case YamlError.duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
      return SiteProblem(
        line: context.mark.line,
        severity: .mistake,
        message: "the mapping that starts here has a key twice: \(names)",
        expected: "each key once"
      )
    case YamlError.reader(let problem, let offset, _, _):
      let line = offset.map { text.prefix($0).count { $0.isNewline } + 1 } ?? 1
      return SiteProblem(line: line, severity: .mistake, message: "not YAML: \(problem)")
    default:
      return SiteProblem(line: 1, severity: .mistake, message: "not YAML: \(error)")
    }
  }
}
