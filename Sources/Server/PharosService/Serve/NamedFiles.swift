package import PharosDocuments
import PharosHTTP
package import PharosSite
import PharosTerminal

/// A trial of the files that a site names, as the server uses them: `serve` makes it before it opens anything, `check` for
/// its report.
package enum NamedFiles {
  /// Tries each file.
  ///
  /// The contents of venues are left to their reader.
  ///
  /// - Parameter configuration: the content of the site file, its paths resolved.
  /// - Returns: a mistake for each file that the server could not use.
  package static func mistakes(of configuration: SiteConfiguration) -> [DocumentProblem] {
    var mistakes: [DocumentProblem] = []
    for setting in configuration.paths {
      guard let (message, expected) = mistake(of: setting) else { continue }
      mistakes.append(configuration.mistake(setting.key, "\(setting.key): \(message)", expected: expected))
    }
    // A pair is tried once each of its files can be read.
    guard let tls = configuration.tls, !mistakes.contains(where: { $0.field.hasPrefix("tls.") }) else {
      return mistakes
    }
    do throws(HTTPServiceError) {
      try tls.check()
    } catch {
      mistakes.append(
        configuration.mistake(
          "tls.key",
          "tls: \(error)",
          expected:
            "the certificate, its intermediate certificates behind it, and the key that was made with it"
        )
      )
    }
    return mistakes
  }

  /// Returns the reason why a file cannot be used, and what is expected; nil if it can.
  private static func mistake(of setting: PathSetting) -> (message: String, expected: String)? {
    let path = setting.path
    let place = "absolute or from the folder of the site file"
    let shown = PlainText.cut(path, to: 200)
    guard !path.split(separator: "/").contains("~") else {
      return ("~ is not read as the home folder in \(shown)", "the whole path, \(place)")
    }
    switch setting.use {
    case .venue:
      guard !FileOutput.isFolder(path), !FileOutput.exists(path) else { return nil }
      return ("\(shown) is not there", "the folder of a venue or its zip archive, \(place)")
    case .data:
      guard !FileOutput.exists(path) || FileOutput.isFolder(path) else {
        return ("\(shown) is a file", "the path of a folder, \(place)")
      }
      guard let reason = FileOutput.reasonAgainst(writingTo: path) else { return nil }
      return (
        "\(shown) cannot be written to: \(reason)",
        "the path of a folder that this user may write to, \(place)"
      )
    case .secret(let what):
      do throws(CommandFailure) {
        _ = try StatedSecret(file: path).read(what, [:])
        return nil
      } catch {
        return ("\(error)", "a file with \(what) in its first line, \(place)")
      }
    case .authorities, .certificate, .privateKey:
      let expected = "the path of a PEM file, \(place)"
      guard FileOutput.exists(path), !FileOutput.isFolder(path) else {
        return ("\(shown) is no file that can be read here", expected)
      }
      guard setting.use != .privateKey, !TLSFiles.holdsCertificates(path) else { return nil }
      return ("\(shown) holds no certificate", expected)
    }
  }
}

extension SiteConfiguration {
  fileprivate func mistake(_ key: String, _ message: String, expected: String) -> DocumentProblem {
    DocumentProblem(place: .line(lines[key] ?? 1), field: key, message: message, expected: expected)
  }
}

/// A secret outside of the site file, which is shown and copied: the first line of a file, or an environment variable.
struct StatedSecret {
  var file: String?
  var variable: String?

  /// The longest file, in bytes.
  private static let maximumLength = 4_096

  /// Reads it; nil if neither is named.
  ///
  /// - Throws: that the file cannot be read or has no secret, or that the variable is not set.
  func read(_ what: String, _ environment: [String: String]) throws(CommandFailure) -> String? {
    if let file {
      let text = String(decoding: try WholeFile.read(file, limit: StatedSecret.maximumLength), as: UTF8.self)
      // A line may end with CR and LF, which are one character.
      let line = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" }
        .first
      guard let line, !line.isEmpty else {
        throw CommandFailure(
          "The first line of \(file), which is to be \(what), is empty.",
          status: .configuration
        )
      }
      return String(line)
    }
    guard let variable else { return nil }
    guard let value = environment[variable], !value.isEmpty else {
      throw CommandFailure(
        "The environment variable \(variable), which holds \(what), is not set.",
        status: .configuration
      )
    }
    return value
  }
}
