import PharosDelivery
import PharosModel
import PharosSampleEvents
import Testing

@Suite("Streams as text")
struct FeedTextTests {
  private let items: [FeedItem] = [
    .event(Sample.committed(7, Sample.enter(1))), .event(Sample.committed(nil, Sample.ranging(2))),
    .dropped(3),
    .gap(from: 4, to: 6), .restart(from: 8, to: 90), .heartbeat,
  ]

  @Test("server-sent events carry ids where a client may come back to them")
  func serverSentEvents() {
    let text = String(decoding: ServerSentEvents.text(for: items), as: UTF8.self)
    let blocks = text.split(separator: "\n\n", omittingEmptySubsequences: false).map(String.init)
    #expect(
      blocks == [
        "id: 7\nevent: pharos.region.enter\ndata: " + Sample.enter(1).cloudEvent(stream: "test"),
        "event: pharos.ranging\ndata: " + Sample.ranging(2).cloudEvent(stream: "test"),
        "event: pharos.feed.dropped\ndata: {\"count\":3}",
        "id: 6\nevent: pharos.feed.gap\ndata: {\"from\":4,\"to\":6}",
        "id: 0\nevent: pharos.feed.gap\ndata: {\"from\":8,\"to\":90,\"restarted\":true}", ": heartbeat", "",
      ]
    )
  }

  @Test("lines of JSON, one object each")
  func lines() {
    let text = String(decoding: NDJSON.text(for: items), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    #expect(
      lines == [
        "{\"sequence\":7,\"event\":" + Sample.enter(1).cloudEvent(stream: "test") + "}",
        "{\"event\":" + Sample.ranging(2).cloudEvent(stream: "test") + "}", "{\"dropped\":{\"count\":3}}",
        "{\"gap\":{\"from\":4,\"to\":6}}", "{\"gap\":{\"from\":8,\"to\":90,\"restarted\":true}}",
        "{\"heartbeat\":true}", "",
      ]
    )
  }

  @Test("a line break in a name cannot break a stream")
  func lineBreaks() {
    let event = Sample.enter(1, region: "a\nid: 99\n\nb\r\u{2028}", subject: "c\nevent: x")
    let text = String(
      decoding: ServerSentEvents.text(for: [.event(Sample.committed(1, event))]),
      as: UTF8.self
    )
    #expect(text.split(whereSeparator: \.isNewline).count == 3 + 1)
    #expect(text.utf8.count { $0 == UInt8(ascii: "\n") } == 4)
  }
}
