package import PharosDocuments
package import PharosModel

/// The observers that are heard and do not count, as many as are worth showing.
///
/// Bounded for each cell by itself, so that the number of engines never shows, and so that a flood of made-up names
/// costs the server neither memory nor a stream of events: when a cell is full, only one that has been silent for long
/// makes room.
struct QuarantineTable: Sendable {
  /// The maximum number of observers in each of the 64 cells: 1,024 in all, more than an operator looks through.
  static let cellCapacity = 16
  /// The silence after which an observer may be removed to make room for another one.
  ///
  /// Ten minutes: an observer that is present reports far more often.
  static let staleness = TimeSpan.minutes(10)

  private var cells: [[QuarantinedObserver]] = Array(repeating: [], count: ObserverID.cells)

  /// All of them, in the order of their identities.
  var observers: [QuarantinedObserver] { cells.flatMap { $0 }.sorted { $0.id < $1.id } }

  /// Records a report; returns true if its observer is new here.
  mutating func record(_ id: ObserverID, at time: Timestamp) -> Bool {
    let cell = id.cell
    if let place = cells[cell].firstIndex(where: { $0.id == id }) {
      cells[cell][place].lastHeard = time
      cells[cell][place].reports &+= 1
      return false
    }
    if cells[cell].count >= QuarantineTable.cellCapacity {
      let places = cells[cell].indices
      let oldest = places.min {
        (cells[cell][$0].lastHeard, cells[cell][$0].id) < (cells[cell][$1].lastHeard, cells[cell][$1].id)
      }
      guard let oldest, time - cells[cell][oldest].lastHeard > QuarantineTable.staleness else {
        return false
      }
      cells[cell].remove(at: oldest)
    }
    cells[cell].append(QuarantinedObserver(id: id, firstHeard: time, lastHeard: time, reports: 1))
    return true
  }

  /// Forgets an observer that counts from now on.
  mutating func remove(_ id: ObserverID) { cells[id.cell].removeAll { $0.id == id } }

  /// Keeps those only whom the condition lets stay.
  mutating func removeAll(where isGone: (ObserverID) -> Bool) {
    for cell in cells.indices { cells[cell].removeAll { isGone($0.id) } }
  }

  /// Puts an observer back that was kept in a state.
  mutating func restore(_ observer: QuarantinedObserver) {
    guard cells[observer.id.cell].count < QuarantineTable.cellCapacity else { return }
    cells[observer.id.cell].append(observer)
  }
}

/// An observer that is heard and does not count: the site neither lists it nor was it accepted.
package struct QuarantinedObserver: Hashable, Sendable {
  /// The observer.
  package var id: ObserverID
  /// The receive time of its first report.
  package var firstHeard: Timestamp
  /// The receive time of its latest report.
  package var lastHeard: Timestamp
  /// The number of its reports.
  package var reports: UInt64
}

extension QuarantinedObserver: FieldRecord {
  /// Hands each field to a coder.
  package static func coded<Coder: FieldCoder>(
    _ value: () -> Self,
    by coder: inout Coder
  ) throws(Coder.Failure) -> Self {
    QuarantinedObserver(
      id: try coder.field(value().id),
      firstHeard: try coder.field(value().firstHeard),
      lastHeard: try coder.field(value().lastHeard),
      reports: try coder.field(value().reports)
    )
  }
}
