import FuzzSupport
import PharosDocuments
import PharosModel
import PharosPipeline
import PharosWire

/// An event as the journal keeps it: its names and its bytes.
final class EventsTarget: FuzzTarget {
  static let name = "events"
  static let maximumLength = 1_024

  func run(_ input: RawSpan) {
    let event: Event
    do {
      var reader = FieldReader(input.array[...])
      event = try EventRecord(from: &reader).event()
    } catch {
      _ = error.description
      return
    }
    let text = event.cloudEvent(stream: "fuzz")
    demand((try? JSONValue(parsing: Array(text.utf8))) != nil, "an event is JSON: \(text)")
    do {
      let again = try EventRecord(event).event()
      demand(again.cloudEvent(stream: "fuzz") == text, "an event that is kept again says the same: \(text)")
    } catch {
      demand(false, "what is kept can be read: \(error)")
    }
  }

  static func seeds() throws -> [[UInt8]] {
    var pipeline = try Pipeline(site: SampleTraffic.site)
    var decoder = DatagramDecoder()
    var events: [Event] = []
    for step in 0..<30 {
      var batch = ReportBatch()
      let now = SampleTraffic.start + .milliseconds(Int64(step) * 400)
      let bytes = try SampleTraffic.datagram(step)
      _ = decoder.decode(bytes.span.bytes, received: now, into: &batch)
      events += pipeline.ingest(batch)
    }
    events += pipeline.stepClock(by: .seconds(-3_600), at: SampleTraffic.start + .seconds(20))
    events += pipeline.finish(tail: .minutes(10))
    var seen: Set<EventKind> = []
    return events.filter { seen.insert($0.kind).inserted }
      .map { event in
        var writer = FieldWriter()
        EventRecord(event).write(to: &writer)
        return writer.bytes
      }
  }
}
