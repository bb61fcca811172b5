package import PharosEvents

/// Which events a command writes: what `--kinds` says.
package struct KindSelection: Hashable, Sendable {
  /// The kinds that are written.
  package let kinds: Set<EventKind>

  /// Makes a selection.
  package init(_ kinds: Set<EventKind>) { self.kinds = kinds }

  /// All but states: an enter or exit says what changed, a state event says it a second time.
  package static let usual = KindSelection(Set(EventKind.allCases).subtracting([.regionState]))

  /// The words and what they stand for.
  package static let words: [(word: String, kinds: Set<EventKind>)] = [
    (
      "region",
      [.regionEnter, .regionExit, .regionUnmonitored, .regionHoldExceeded, .regionLimitExceeded]
    ),
    ("state", [.regionState]),
    ("ranging", [.ranging]),
    ("zone", [.zoneEnter, .zoneExit]),
    ("observer", [.observerOnline, .observerOffline, .observerRestarted, .observerQuarantined]),
    ("beacon", [.beaconBattery]),
    ("server", [.clockStepped]),
    ("fix", [.fix]),
    ("visit", [.visitArrive, .visitDepart]),
    ("authorisation", [.authorisationChanged]),
    ("notification", [.notification]),
    ("all", Set(EventKind.allCases)),
  ]

  /// Reads words with commas between them, as in `region,zone`; nil if one of them is unknown.
  package init?(_ text: String) {
    var kinds: Set<EventKind> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let entry = KindSelection.words.first(where: { $0.word == part }) else { return nil }
      kinds.formUnion(entry.kinds)
    }
    self.init(kinds)
  }

  /// Whether an event is written.
  package func contains(_ event: Event) -> Bool { kinds.contains(event.kind) }
}
