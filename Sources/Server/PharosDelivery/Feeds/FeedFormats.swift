import PharosModel
import PharosPublishing

/// Live streams as server-sent events.
///
/// - Source: WHATWG HTML, section 9.2 (server-sent events).
package enum ServerSentEvents {
  /// The content type of a response.
  package static let contentType = "text/event-stream"

  /// The beginning of a response: a client reconnects 2 s after it was cut off.
  package static let preamble: [UInt8] = Array("retry: 2000\n\n".utf8)

  /// Encodes items for the network.
  ///
  /// An event in the journal carries its sequence number as `id`, with which a client reconnects; others carry none, so
  /// that the client keeps its last id.
  package static func text(for items: [FeedItem]) -> [UInt8] {
    var text: [UInt8] = []
    for item in items {
      switch item {
      case .event(let published):
        text += frame(of: published)
        continue
      case .dropped(let count): text += "event: pharos.feed.dropped\ndata: {\"count\":\(count)}".utf8
      case .gap(let from, let to):
        text += "id: \(to)\nevent: pharos.feed.gap\ndata: {\"from\":\(from),\"to\":\(to)}".utf8
      case .restart(let from, let to):
        text += "id: 0\nevent: pharos.feed.gap\ndata: {\"from\":\(from),\"to\":\(to),\"restarted\":true}".utf8
      case .heartbeat: text += ": heartbeat".utf8
      }
      text += "\n\n".utf8
    }
    return text
  }

  /// The text of an event, which is written once for all streams.
  static func frame(of published: PublishedEvent) -> [UInt8] {
    published.frame { json in
      var text: [UInt8] = []
      text.reserveCapacity(json.count + 96)
      if let sequence = published.sequence { text += "id: \(sequence)\n".utf8 }
      text += "event: \(published.event.kind.type)\ndata: ".utf8
      text += json
      text += "\n\n".utf8
      return text
    }
  }
}

/// Live streams as lines of JSON, each an object.
package enum NDJSON {
  /// The content type of a response.
  package static let contentType = "application/x-ndjson"

  /// Encodes items as lines of JSON.
  ///
  /// An event is `{"sequence":…,"event":…}`, without the number if it is not in the journal. The other items are
  /// `{"dropped":{"count":…}}`, `{"gap":{"from":…,"to":…}}` (with `"restarted":true` where numbers begin again) and `{"heartbeat":true}`.
  package static func text(for items: [FeedItem]) -> [UInt8] {
    var text: [UInt8] = []
    for item in items {
      switch item {
      case .event(let committed):
        text += (committed.sequence.map { "{\"sequence\":\($0),\"event\":" } ?? "{\"event\":").utf8
        text += committed.cloudEvent
        text += "}\n".utf8
      case .dropped(let count): text += "{\"dropped\":{\"count\":\(count)}}\n".utf8
      case .gap(let from, let to): text += "{\"gap\":{\"from\":\(from),\"to\":\(to)}}\n".utf8
      case .restart(let from, let to):
        text += "{\"gap\":{\"from\":\(from),\"to\":\(to),\"restarted\":true}}\n".utf8
      case .heartbeat: text += "{\"heartbeat\":true}\n".utf8
      }
    }
    return text
  }
}
