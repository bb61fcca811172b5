import FuzzSupport
import PharosDocuments
import PharosHTTP
import PharosModel

/// The target of a request, its host and its cursor.
final class QueriesTarget: FuzzTarget {
  static let name = "queries"
  static let maximumLength = 512

  private static let known = [
    "limit", "cursor", "before", "after", "since", "from", "to", "points", "observer", "subject", "region",
    "level",
    "follow",
  ]

  func run(_ input: RawSpan) {
    let text = String(decoding: input.array, as: UTF8.self)
    if let decoded = PercentCoding.decode(text) {
      demand(PercentCoding.decode(PercentCoding.encode(segment: decoded)) == decoded, "a segment comes back")
    }
    if let host = HostName.host(of: text) { _ = HostPort.isLoopback(host: host) }
    if let time = Timestamp(text: text) {
      demand(Timestamp(text: time.rfc3339) == time, "a time's text reads back: \(time.rfc3339)")
    }
    do {
      var query = try QueryReading(target: text, known: Self.known)
      let limit = query.limit()
      demand((1...Page.maximumLength).contains(limit), "a page is as long as it may be")
      let key = Page.key(&query) { parts in parts.count == 2 ? parts : nil }
      if let key {
        var again = try QueryReading(target: "?cursor=\(Page.cursor(after: key))", known: Self.known)
        demand(Page.key(&again) { $0 } == key, "a cursor reads back")
      }
      _ = query.integer("before", in: 1...Int64.max)
      _ = query.number("level", in: -127...20)
      let range = HistoryRange(
        &query,
        now: Timestamp(seconds: 1_800_000_000),
        usual: .minutes(60),
        points: 1...1_000
      )
      demand(range.count > 0 && range.from <= range.to, "a range has steps")
      _ = query.bool("follow")
      _ = query.observers("observer")
      _ = query.subjects("subject")
      _ = query.texts("region")
      try query.finish()
    } catch {
      demand((400..<500).contains(error.status), "a wrong query is the client's mistake")
    }
  }

  static var words: [[UInt8]] {
    known.map { Array("\($0)=".utf8) }
      + [
        "/v1/events?", "&", "%20", "%C3%A4", "2015-01-01T00:00:00.5Z", "+01:00", "1420070400.5", "c6162",
        "[::1]:80", "localhost", "9223372036854775807", "-9223372036854775808", "1e999",
      ]
      .map { Array($0.utf8) }
  }

  static func seeds() throws -> [[UInt8]] {
    [
      "/v1/events?limit=10&from=2015-01-01T00:00:00.5%2B01:00&observer=ac:23:3f:a0:00:01&region=a%20b",
      "2015-02-28T23:59:60Z",
      "/v1/adverts?cursor=c610a62&level=-70.5&follow=true&subject=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/7",
      "[::1]:8080",
      "/v1/history?from=99999999999.999999999&to=9999-12-31T23:59:59Z&points=1", "localhost:8080",
    ]
    .map { Array($0.utf8) }
  }
}
