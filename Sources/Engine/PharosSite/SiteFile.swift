package import PharosDocuments
import PharosModel
package import PharosSpace
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
  ///   - path: the name of the file in messages.
  ///   - files: reads a file that the site names, by its path beside the site file; nil if it may name none.
  /// - Returns: the configuration, which contains the warnings.
  /// - Throws: all mistakes together with the warnings.
  package static func parse(
    _ text: String,
    path: String,
    files: ((String) throws -> [UInt8])? = nil
  ) throws(DocumentError) -> SiteConfiguration {
    let problems = DocumentProblems()
    var configuration = SiteConfiguration()
    var traps = YAMLTraps(text)
    do throws(DocumentProblem) {
      if let node = try DocumentNode(yaml: text) {
        var reading = SiteReading(problems: problems, files: files)
        configuration = reading.configuration(of: node)
      }
    } catch {
      if traps.explanation(at: error.line) == nil { problems.add(error) }
    }
    for trap in traps.problems { problems.add(trap) }
    configuration.warnings = try problems.conclude(path: path)
    return configuration
  }

  /// Reads a site file's bytes; they must be UTF-8.
  ///
  /// - Throws: all mistakes together.
  package static func parse(
    bytes: [UInt8],
    path: String,
    files: ((String) throws -> [UInt8])? = nil
  ) throws(DocumentError) -> SiteConfiguration {
    if let text = String(validating: bytes, as: UTF8.self) {
      return try parse(text, path: path, files: files)
    }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let index = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0
    let problem = DocumentProblem(
      place: .line(index + 1),
      message: "not UTF-8",
      expected: DocumentProblem.textInUTF8("a text file", instead: bytes)
    )
    throw DocumentError(path: path, problems: [problem])
  }
}

extension VenueFolder {
  /// Reads a folder whose `venue.yaml` is parsed as the site file is.
  ///
  /// - Parameters:
  ///   - folder: the name of the folder in messages.
  ///   - files: reads its files.
  /// - Returns: the venue and the warnings.
  /// - Throws: all mistakes together with the warnings.
  package static func read(
    _ folder: String,
    files: VenueFiles
  ) throws(DocumentError) -> (venue: Venue, warnings: [DocumentProblem]) {
    var traps: [DocumentProblem] = []
    let (venue, warnings) = try read(folder, files: files, timeZones: .machine) {
      text throws(DocumentProblem) in
      var found = YAMLTraps(text)
      traps = found.problems
      do throws(DocumentProblem) {
        return try DocumentNode(yaml: text)
      } catch {
        throw found.explanation(at: error.line) ?? error
      }
    }
    for index in traps.indices { traps[index].file = mainFile }
    return (venue, traps + warnings)
  }
}

extension DocumentNode {
  /// Reads a YAML text; nil if it is empty.
  ///
  /// - Throws: the line and the reason if it is no YAML.
  init?(yaml text: String) throws(DocumentProblem) {
    do {
      guard let node = try Yams.compose(yaml: text) else { return nil }
      self.init(node)
    } catch {
      throw DocumentNode.problem(of: error, in: text)
    }
  }

  private init(_ node: Node) {
    let content: Content =
      switch node {
      case .scalar(let scalar): scalar.style == .plain ? .plain(scalar.string) : .text(scalar.string)
      case .sequence(let elements): .list { elements.map { DocumentNode($0) } }
      case .mapping(let members):
        .mapping { members.map { (DocumentNode($0.key), DocumentNode($0.value)) } }
      // The composer puts the node in the place of its alias.
      case .alias: .null
      }
    self.init(content, line: node.mark?.line ?? 1)
  }
}
