import Foundation
import PackagePlugin

/// A bill of materials, in the members of CycloneDX 1.6.
struct Bill: Encodable {
  var bomFormat = "CycloneDX"
  var specVersion = "1.6"
  var version = 1
  var metadata: Metadata
  var components: [Component]
  var dependencies: [Dependency]
}

/// The subject of the bill.
struct Metadata: Encodable {
  var component: Component
}

/// The dependencies of a component.
struct Dependency: Encodable {
  var reference: String
  var dependsOn: [String]

  enum CodingKeys: String, CodingKey {
    case reference = "ref"
    case dependsOn
  }
}

/// A part, in the members of CycloneDX.
struct Component: Encodable {
  var type: String
  var reference: String
  var name: String
  var version: String?
  /// The package URL, where there is one.
  var purl: String?
  /// `required` for what is linked, `excluded` for what is only resolved.
  var scope: String?
  var licenses: [License]?
  var externalReferences: [Link]?
  var properties: [Property]?

  /// A licence, as an expression of SPDX.
  struct License: Encodable {
    var expression: String
  }

  /// The origin of a component.
  struct Link: Encodable {
    var type: String
    var url: String
  }

  /// A fact that the format has no member for.
  struct Property: Encodable {
    var name: String
    var value: String
  }

  enum CodingKeys: String, CodingKey {
    case type, name, version, purl, scope, licenses, externalReferences, properties
    case reference = "bom-ref"
  }

  /// A resolved package.
  init(_ package: Package, isLinked: Bool, _ revisions: ResolvedRevisions) {
    type = "library"
    name = package.displayName
    reference = Component.reference(package)
    scope = isLinked ? "required" : "excluded"
    licenses = LicenseFile.expression(in: package.directoryURL).map { [License(expression: $0)] }
    if case .repository(let url, let displayVersion, _) = package.origin {
      version = displayVersion
      purl = Component.packageURL(url, version: displayVersion)
      externalReferences = [Link(type: "vcs", url: url)]
      properties = revisions[url].map { [Property(name: "revision", value: $0)] }
    }
  }

  /// A library of the system, by the name that `pkg-config` knows.
  init(systemLibrary name: String) {
    type = "library"
    self.name = name
    version = Component.output(of: "pkg-config", "--modversion", name)
    reference = "system:\(name)"
    scope = "required"
    properties = [Property(name: "origin", value: "the system's library, linked when the program starts")]
  }

  /// The executable itself, of the version that its source says.
  init(executable name: String, at folder: URL) throws {
    type = "application"
    self.name = name
    let source = folder.appending(path: "Sources/Model/PharosTerminal/PharosVersion.swift")
    let text = (try? String(contentsOf: source, encoding: .utf8)) ?? ""
    guard let found = text.firstMatch(of: /text = "([^"]+)"/) else { throw BillError.notRead(source.path) }
    version = String(found.1)
    reference = "application:\(name)"
    licenses = LicenseFile.expression(in: folder).map { [License(expression: $0)] }
  }

  /// Returns the identifier by which other parts of the bill refer to a package.
  static func reference(_ package: Package) -> String {
    guard case .repository(let url, let version, _) = package.origin else { return "package:\(package.id)" }
    return packageURL(url, version: version)
  }

  /// The package URL of a package: its repository's host and path, and its version.
  private static func packageURL(_ url: String, version: String) -> String {
    var path = url.split(separator: "://", maxSplits: 1).last.map(String.init) ?? url
    if path.hasSuffix(".git") { path.removeLast(4) }
    return "pkg:swift/\(path)@\(version)"
  }

  /// Returns the output of a program, or nil if it is not there or fails.
  private static func output(of program: String, _ arguments: String...) -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
