import PharosReports

/// How a command reaches the server that it is about: by its data folder while it is stopped, over HTTP while it runs.
package enum ServerAccess: Hashable, Sendable {
  /// The data folder of a server that does not run; a new one gets a stream of this name.
  case folder(String, stream: String)
  /// The HTTP interface of a server that runs, and the operator's token where it asks for one.
  case http(url: String, token: String?)

  /// Settles which one is meant.
  ///
  /// - Parameters:
  ///   - data: the folder that was named.
  ///   - stream: the name of the site's stream, for a folder that is new.
  ///   - url: the address that was named, `http://HOST:PORT` or `HOST:PORT`.
  ///   - environment: `PHAROS_DATA` and `PHAROS_TOKEN`.
  /// - Throws: what to give.
  package init(
    data: String?,
    stream: String = Site().stream,
    url: String?,
    environment: [String: String]
  ) throws(CommandFailure) {
    let token = environment["PHAROS_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
    let folder = data ?? environment["PHAROS_DATA"].flatMap { $0.isEmpty ? nil : $0 }
    if let url {
      guard data == nil else {
        throw CommandFailure(
          "--data and --url stand together. A server that runs is asked over HTTP, one that is stopped by its folder.",
          status: .usage
        )
      }
      let whole = url.contains("://") ? url : "http://\(url)"
      guard whole.hasPrefix("http://") || whole.hasPrefix("https://") else {
        throw CommandFailure(
          "--url is \(url); expected http://HOST:PORT or https://HOST:PORT.",
          status: .usage
        )
      }
      self = .http(url: String(whole.reversed().drop { $0 == "/" }.reversed()), token: token)
    } else if let folder {
      self = .folder(folder, stream: stream)
    } else {
      throw CommandFailure(
        "Which server? Give --data DIR for one that is stopped, or --url http://HOST:PORT for one that runs.",
        status: .usage
      )
    }
  }
}
