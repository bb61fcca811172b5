import PharosService
import Testing

/// Limits that are reached: named once, counted always.
@Suite("Naming limits of ingest")
struct LimitWatchTests {
  @Test("each limit is named when it is first reached, and again only after an hour without")
  func once() {
    var watch = LimitWatch()
    #expect(watch.look([0, 0, 0, 0, 0]).isEmpty)
    #expect(watch.look([5, 0, 0, 0, 0]).map(\.limit) == ["tracks"])
    #expect(watch.look([9, 2, 0, 0, 0]).map(\.limit) == ["observers"])
    for look in 0..<200 { #expect(watch.look([UInt64(10 + look), 2, 0, 0, 0]).isEmpty) }
    for _ in 0..<LimitWatch.quiet { #expect(watch.look([209, 2, 0, 0, 0]).isEmpty) }
    let again = watch.look([212, 2, 0, 0, 7])
    #expect(again.map(\.limit) == ["tracks", "events waiting in live streams"])
    #expect(again.map(\.count) == [3, 7])
    #expect(
      again.map(\.metric) == ["pharos_monitoring_evictions_total", "pharos_feeds_events_dropped_total"]
    )
  }
}
