import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel
package import PharosTerminal
import Yams

/// The way to the server that a command is about: through its data folder while it is stopped, over HTTP while it runs.
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
  /// - Throws: `CommandFailure` that names the option to give.
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
          "--data and --url cannot be combined. A running server is asked over HTTP, a stopped one through its folder.",
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

/// The data folder of a server that does not run.
enum DataFolder {
  /// Opens the journal in a folder, whatever its stream is called.
  ///
  /// - Parameters:
  ///   - folder: the data folder.
  ///   - stream: the name of the stream of a new journal.
  ///   - console: the console that reports a new folder; if nil, a folder without a journal is refused.
  /// - Returns: the journal.
  /// - Throws: `CommandFailure`, for a server that runs with how to ask it instead.
  static func open(
    _ folder: String,
    stream: String,
    creatingOn console: Console? = nil
  ) throws(CommandFailure) -> Journal {
    if !FileOutput.exists("\(folder)/journal.sqlite") {
      guard let console else {
        throw CommandFailure(
          "\(folder) holds no journal. Expected the folder that `pharos serve --data` uses."
        )
      }
      console.say("\(folder) held no journal: it is prepared for a server that starts with --data \(folder).")
    }
    do throws(JournalError) {
      return try Journal.open(.folder(folder), stream: stream)
    } catch {
      // A folder that has a stream already keeps it: what is done here concerns no event.
      if case .otherStream(let found, _) = error.problem, found != stream {
        return try open(folder, stream: found)
      }
      if case .inUse = error.problem {
        throw CommandFailure(
          "a server uses \(folder) at present. Ask it over HTTP: give --url http://HOST:PORT instead of --data."
        )
      }
      throw CommandFailure("\(error)")
    }
  }
}

/// Asks a running server over HTTP.
struct ServerClient {
  let url: String
  let token: String?

  /// The longest answer that is read.
  ///
  /// - Units: bytes; 10,000 tokens, as many as there may be, take 3 MB.
  private static let maximumAnswer = 16 << 20

  /// The time within which a server has to answer.
  private static let timeout = TimeSpan.seconds(30)

  /// Sends a request and returns the JSON of its answer.
  ///
  /// - Parameters:
  ///   - method: GET, POST or DELETE.
  ///   - path: the path, parts of it encoded with ``encoded(_:)``.
  ///   - body: the JSON to send.
  /// - Returns: the answer's body.
  /// - Throws: `CommandFailure` with the server's message, or the reason why it cannot be reached.
  func ask(_ method: String, _ path: String, body: [UInt8]? = nil) async throws -> [UInt8] {
    var request = HTTPClientRequest(url: url + path)
    request.method = .RAW(value: method)
    if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
    if let body {
      request.headers.add(name: "Content-Type", value: "application/json")
      request.body = .bytes(ByteBuffer(bytes: body))
    }
    let status: UInt
    let answer: [UInt8]
    do {
      let timeout = TimeAmount.nanoseconds(ServerClient.timeout.nanoseconds)
      let response = try await HTTPClient.shared.execute(request, timeout: timeout)
      status = response.status.code
      answer = Array(buffer: try await response.body.collect(upTo: ServerClient.maximumAnswer))
    } catch {
      let reason = SendFailure.words(for: error, timeout: ServerClient.timeout)
      throw CommandFailure(
        "cannot reach \(url): \(Wording.clause(reason)). Is it running, and is that where it serves HTTP? For a server that is stopped "
          + "give --data DIR."
      )
    }
    guard (200..<300).contains(status) else {
      throw ServerClient.failure(status, answer, hasToken: token != nil)
    }
    return answer
  }

  /// The tree of an answer: JSON as Pharos writes it is YAML as well.
  static func tree(_ answer: [UInt8]) throws(CommandFailure) -> Node {
    let tree = try? Yams.compose(yaml: String(decoding: answer, as: UTF8.self))
    guard let tree, tree.mapping != nil else {
      throw CommandFailure("the answer is not from Pharos. Does another program use that address?")
    }
    return tree
  }

  /// Returns a failure with the server's message: a problem of the interface, as RFC 9457 defines it.
  private static func failure(_ status: UInt, _ answer: [UInt8], hasToken: Bool) -> CommandFailure {
    if status == 401 {
      let advice = hasToken ? "PHAROS_TOKEN does not open it" : "set PHAROS_TOKEN to an operator's token"
      return CommandFailure("the server asks for a token: \(advice)")
    }
    guard let problem = try? tree(answer) else { return CommandFailure("the server answered \(status)") }
    let mistakes = (problem["errors"]?.sequence.map(Array.init) ?? []).compactMap { mistake -> String? in
      guard let field = mistake["field"]?.string, let message = mistake["message"]?.string else { return nil }
      return "\(field) \(message)"
    }
    let text =
      problem["detail"]?.string ?? problem["title"]?.string ?? "the server answered \(status)"
    return CommandFailure(([text] + mistakes).joined(separator: "\n"))
  }
}
