package import PharosDocuments
package import PharosJournal
package import PharosModel

/// The reason for which a change or a read of tokens, keys or authorisations failed.
package enum AccessError: Error, Hashable, Sendable {
  /// A name is empty or longer than it may be.
  case badName(field: String, limit: Int)
  /// A purpose is empty or longer than it may be.
  case badPurpose(application: String, limit: Int)
  /// An application without a purpose asks for an authorisation about a person.
  case purposeMissing(application: String)
  /// Full accuracy is asked for with a purpose that is not declared.
  case undeclaredPurpose(application: String, key: String, declared: [String])
  /// Full accuracy is asked for as long as a live stream is open, and none is.
  case noSession(application: String)
  /// A change to or from a state that only the operator may set.
  case operatorOnly(application: String, subject: SubjectID, from: AuthorisationState, to: AuthorisationState)
  /// An authorisation without a subject.
  case noSubject
  /// The maximum number exists already.
  case tooMany(what: String, limit: Int)
  /// An observer has the maximum number of valid keys.
  case tooManyKeys(ObserverID, limit: Int)
  /// An observer is listed as a radio of itself, or of another observer although it has keys of its own.
  case notARadio(ObserverID, of: ObserverID)
  /// A token for a gateway whose name cannot stand in a topic.
  case badGateway(ObserverID)
  /// A token would expire before it is made.
  case expired
  /// A stored document cannot be read.
  case damaged(kind: String, key: String, FieldError)
  /// The change could not be stored, so it does not take effect.
  case store(JournalError)
}

extension AccessError: CustomStringConvertible {
  /// The problem, its reason and the remedy.
  package var description: String {
    switch self {
    case .badName(let field, let limit):
      "\(field) must be a text of 1 to \(limit) bytes"
    case .badPurpose(let application, let limit):
      "the purpose of application \(application) must be a text of 1 to \(limit) characters that says to people what "
        + "their whereabouts are used for"
    case .purposeMissing(let application):
      "application \(application) has no purpose, so it receives no events about persons: set `purpose` first, a text "
        + "that says to people what their whereabouts are used for"
    case .undeclaredPurpose(let application, let key, let declared):
      "application \(application) declares no purpose \"\(PlainText.cut(key, to: 60))\": add it to its `temporaryPurposes`, "
        + "a text that says to people what full accuracy is used for; "
        + (declared.isEmpty ? "it declares none yet" : "it declares \(declared.joined(separator: ", "))")
    case .noSession(let application):
      "application \(application) has no live stream open, with which its full accuracy would end: open one first, or "
        + "state a `duration`"
    case .operatorOnly(let application, let subject, let from, let to):
      "application \(application) may not change \(subject) from \(from.name) to \(to.name): restricted is given and "
        + "taken away by the operator alone"
    case .noSubject:
      "an authorisation is about an observer or a beacon; name one"
    case .tooMany(let what, let limit):
      "there are already \(limit) \(what), the maximum; remove some first"
    case .tooManyKeys(let observer, let limit):
      "observer \(observer) has \(limit) valid keys, the maximum; revoke one first: pharos observer "
        + "revoke \(observer) KEYID"
    case .notARadio(let radio, let observer):
      "\(radio) cannot be a radio of \(observer): it is the same, or has keys of its own and so speaks for itself; "
        + "forget its keys first: pharos observer forget \(radio)"
    case .badGateway(let gateway):
      "a token cannot name gateway \(gateway), since a slash is in it; give the gateway another name, or make a token for all "
        + "gateways"
    case .expired:
      "the token would have expired already; give a later time or none"
    case .damaged(let kind, let key, let error):
      "the journal's document \(kind)/\(key) cannot be read (\(error)); put the journal's file back from a "
        + "backup, or start with a new data folder"
    case .store(let error):
      "not changed, since it could not be stored: \(error)"
    }
  }
}
