import GRDB
import PharosDocuments
import PharosModel

/// An error of the journal.
package struct JournalError: Error, Hashable, Sendable {
  /// The kind of problem.
  package enum Problem: Hashable, Sendable {
    /// The folder cannot be made or used.
    case folder(reason: String)
    /// Another process uses the journal.
    case inUse(process: Int?)
    /// The disk is full.
    case full
    /// The file or its folder may not be written.
    case readOnly
    /// Another program holds a lock on the file.
    case locked
    /// The file is damaged, or is no journal at all.
    case damaged(detail: String)
    /// The file is not the journal of this program.
    case foreign(what: String)
    /// The file was written by a newer version of this program.
    case newer(steps: [String])
    /// The journal belongs to another stream.
    case otherStream(found: String, expected: String)
    /// The servers that have the same documents have not all made a change, or not in time.
    case notReplicated(reason: String)
    /// The disk or the database refused for another reason.
    case refused(detail: String)
  }

  /// The problem.
  package let problem: Problem
  /// The file or folder of the journal; `memory` for a journal without a file.
  package let place: String

  /// Makes an error.
  package init(_ problem: Problem, at place: String) {
    self.problem = problem
    self.place = place
  }
  /// Indicates whether the error is damage to the file.
  var isDamage: Bool {
    if case .damaged = problem { true } else { false }
  }
}

extension JournalError: CustomStringConvertible {
  /// The problem, its place and the remedy.
  package var description: String {
    switch problem {
    case .folder(let reason):
      "\(place): the folder for the journal cannot be used: \(Wording.clause(reason)). Choose another one with --data, or change its rights."
    case .inUse(let process):
      "\(place): \(process.map { "process \($0)" } ?? "another process") uses this journal. "
        + "Stop it, or give this one another folder with --data."
    case .full:
      "\(place): the disk is full. Make room, or let the journal keep less; then journalling resumes without a restart."
    case .readOnly:
      "\(place): the journal may not be written. Give this user the right to write the file and its folder."
    case .locked:
      "\(place): another program holds a lock on the journal. End it; copies are best made with `.backup`."
    case .damaged(let detail):
      "\(place): the journal is damaged (\(detail)). Move its files away and start with an empty folder, "
        + "or restore a copy; `sqlite3 FILE .recover` saves what can be read."
    case .foreign(let what):
      "\(place): the file \(what), so it is not a journal. Remove it, or choose another folder with --data."
    case .newer(let steps):
      "\(place): the journal was written by a newer version (it knows \(steps.joined(separator: ", "))). "
        + "Use that version, or another folder."
    case .otherStream(let found, let expected):
      "\(place): the journal belongs to the stream \"\(found)\", the site says \"\(expected)\". "
        + "Use another folder, or change the site's stream back."
    case .notReplicated(let reason): reason
    case .refused(let detail):
      "\(place): the journal cannot be used: \(Wording.clause(detail))."
    }
  }
}

extension JournalError {
  /// The log does not hold what it held when its commits were published.
  ///
  /// - Parameters:
  ///   - path: the journal's file.
  ///   - isMissing: true if the log is missing or shorter. A program that closes the file as the last one copies the log back and
  ///     removes it.
  init(ofLog path: String, isMissing: Bool) {
    let reason =
      isMissing
      ? "is missing or cut off; if another program such as sqlite3 opened the journal since, nothing is lost: "
        + "remove \(path)-sums and start again" : "is damaged"
    self.init(
      .damaged(detail: "the log \(path)-wal, which holds commits that were published, \(reason)"),
      at: path
    )
  }

  /// Converts an error of another module.
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

  /// SQLite's code for a page that differs from its hash.
  ///
  /// - Source: sqlite3.h, SQLITE_IOERR_DATA, a macro that Swift cannot read.
  private static let damagedPage: Int32 = 10 | 32 << 8

  private static func problem(of error: DatabaseError) -> Problem {
    let detail = error.message ?? "code \(error.extendedResultCode.rawValue)"
    guard error.extendedResultCode.rawValue != damagedPage else {
      return .damaged(
        detail:
          "a page differs from its hash; if another program has changed it on purpose, remove the file -sums"
      )
    }
    switch error.resultCode {
    case .SQLITE_FULL: return .full
    case .SQLITE_READONLY, .SQLITE_PERM: return .readOnly
    case .SQLITE_BUSY, .SQLITE_LOCKED: return .locked
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT: return .damaged(detail: detail)
    default: return .refused(detail: "\(detail), code \(error.extendedResultCode.rawValue)")
    }
  }
}

/// An error for a row or value in the database that this program cannot have written.
package struct DamagedRecord: Error, CustomStringConvertible {
  var what: String

  package var description: String { what }
}
