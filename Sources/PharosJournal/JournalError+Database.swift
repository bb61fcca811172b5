import GRDB
import PharosReports

extension JournalError {
  /// The error in our words.
  init(_ error: any Error, at place: String) {
    switch error {
    case let error as JournalError: self = error
    case let error as DatabaseError: self.init(JournalError.problem(of: error), at: place)
    case let error as DamagedRecord:
      self.init(.damaged(detail: error.description), at: place)
    case let error as FieldError: self.init(.damaged(detail: "\(error)"), at: place)
    default: self.init(.refused(detail: "\(error)"), at: place)
    }
  }

  private static func problem(of error: DatabaseError) -> Problem {
    let detail = error.message ?? "code \(error.extendedResultCode.rawValue)"
    switch error.resultCode {
    case .SQLITE_FULL: return .full
    case .SQLITE_READONLY, .SQLITE_PERM: return .readOnly
    case .SQLITE_BUSY, .SQLITE_LOCKED: return .locked
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: return .damaged(detail: detail)
    default: return .refused(detail: "\(detail), code \(error.extendedResultCode.rawValue)")
    }
  }
}

/// A row that SQLite gave and that is none of ours.
package struct DamagedRecord: Error, CustomStringConvertible {
  var what: String

  package var description: String { what }
}
