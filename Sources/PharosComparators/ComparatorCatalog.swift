/// The rules that peers use, ready to be told what was heard.
package enum ComparatorCatalog {
  /// The rules of presence, the peers' own time-outs, in the order in which tables show them.
  ///
  /// The rules that can decide rooms see all the site's observers as one here; only ``rooms(observers:)`` makes them
  /// compare observers.
  package static func presence() -> [any Comparator] {
    [
      AltBeacon.thirtySeconds(), AltBeacon.tenSeconds(), CoreLocationLike(), ReelyActive(), RoomAssistant(),
      Bermuda(), ESPresense(),
    ]
  }

  /// The rules that say which room, for these observers.
  ///
  /// - Parameter observers: by number; a sighting by an observer that is not among them decides no room.
  /// - Returns: the rules; the companion's falls back to the nearest node where a place is not known, and its name says
  ///   so.
  package static func rooms(observers: [ComparatorObserver]) -> [any Comparator] {
    [
      ReelyActive(observers: observers), RoomAssistant(observers: observers), Bermuda(observers: observers),
      ESPresense(observers: observers),
    ]
  }
}
