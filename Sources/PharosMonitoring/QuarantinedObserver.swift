package import PharosReports

/// An observer that is heard and does not count: the site neither lists it nor was it accepted.
package struct QuarantinedObserver: Hashable, Sendable {
  /// Which observer.
  package var id: ObserverID
  /// When its first report was received.
  package var firstHeard: Timestamp
  /// When its latest report was received.
  package var lastHeard: Timestamp
  /// How many reports came from it.
  package var reports: UInt64

  /// Makes an entry.
  package init(id: ObserverID, firstHeard: Timestamp, lastHeard: Timestamp, reports: UInt64) {
    self.id = id
    self.firstHeard = firstHeard
    self.lastHeard = lastHeard
    self.reports = reports
  }
}

extension QuarantinedObserver {
  func write(to writer: inout FieldWriter) {
    id.write(to: &writer)
    firstHeard.write(to: &writer)
    lastHeard.write(to: &writer)
    writer.write(reports)
  }

  init(from reader: inout FieldReader) throws(FieldError) {
    let id = try ObserverID(from: &reader)
    let first = try Timestamp(from: &reader)
    let last = try Timestamp(from: &reader)
    self.init(id: id, firstHeard: first, lastHeard: last, reports: try reader.number(UInt64.self))
  }
}
