import Foundation

/// The revisions that packages were resolved to, by the address of their repository.
struct ResolvedRevisions {
  private var revisions: [String: String] = [:]

  /// Reads `Package.resolved` of a package's folder.
  init(in folder: URL) throws {
    let file = folder.appending(path: "Package.resolved")
    guard let data = try? Data(contentsOf: file) else { throw BillError.notRead(file.path) }
    guard let resolved = try? JSONDecoder().decode(Resolved.self, from: data) else {
      throw BillError.notRead(file.path)
    }
    for pin in resolved.pins { revisions[pin.location] = pin.state.revision }
  }

  subscript(url: String) -> String? { revisions[url] }

  private struct Resolved: Decodable {
    struct Pin: Decodable {
      struct State: Decodable {
        var revision: String?
      }
      var location: String
      var state: State
    }
    var pins: [Pin]
  }
}
