import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import PharosReports
import Yams

/// Asks a running server over HTTP.
struct ServerClient {
  let url: String
  let token: String?

  /// The longest answer that is read.
  ///
  /// - Units: bytes; 10,000 tokens, as many as there may be, take 3 MB.
  private static let longestAnswer = 16 << 20

  /// What a request gave: its answer's JSON, or nil where it has none.
  ///
  /// - Parameters:
  ///   - method: GET, POST or DELETE.
  ///   - path: the path, parts of it encoded with ``encoded(_:)``.
  ///   - body: the JSON to send.
  /// - Returns: the answer's body.
  /// - Throws: ``CommandFailure`` with what the server said, or why it cannot be reached.
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
      let response = try await HTTPClient.shared.execute(request, timeout: .seconds(30))
      status = response.status.code
      answer = Array(buffer: try await response.body.collect(upTo: ServerClient.longestAnswer))
    } catch {
      throw CommandFailure(
        "cannot reach \(url): \(error). Is it running, and is that where it serves HTTP? For a server that is stopped "
          + "give --data DIR."
      )
    }
    guard (200..<300).contains(status) else {
      throw ServerClient.failure(status, answer, hasToken: token != nil)
    }
    return answer
  }

  /// A part of a path.
  static func encoded(_ part: String) -> String {
    part.utf8.reduce(into: "") { text, byte in
      let character = Character(Unicode.Scalar(byte))
      let isPlain = character.isASCII && (character.isLetter || character.isNumber)
      text += isPlain ? String(character) : "%\(Hex.text(CollectionOfOne(byte)))"
    }
  }

  /// The tree of an answer: JSON as Pharos writes it is YAML as well.
  static func tree(_ answer: [UInt8]) throws(CommandFailure) -> Node {
    let tree = try? Yams.compose(yaml: String(decoding: answer, as: UTF8.self))
    guard let tree, tree.mapping != nil else {
      throw CommandFailure("the server's answer is none of Pharos. Is another program at that address?")
    }
    return tree
  }

  /// What the server said, in words: a problem of the interface, as RFC 9457 has it.
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
