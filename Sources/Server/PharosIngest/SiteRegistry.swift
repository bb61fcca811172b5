package import PharosModel
package import PharosPresence
import Synchronization

/// The one owner of the site in a server.
///
/// The site file, registrations over HTTP and the program that embeds the server change it through one function: the
/// engine checks an edit, the store commits it, and the engine takes it over (``IngestServer/change(_:committing:)``).
/// All else that depends on the site is derived from it: the engines follow the changes, and the others read it when
/// they need it.
package final class SiteRegistry: Sendable {
  private struct State {
    var site: RegisteredSite
    var names: SiteNames
  }

  private let state: Mutex<State>

  /// Makes a registry, which the server checks when it starts.
  package init(_ site: RegisteredSite) {
    state = Mutex(State(site: site, names: SiteNames(site.site)))
  }

  /// The site that counts, with the declarations and registrations from which it follows.
  package var value: RegisteredSite { state.withLock { $0.site } }

  /// The site that counts.
  package var site: Site { state.withLock { $0.site.site } }

  /// The names that the site gives.
  package var names: SiteNames { state.withLock { $0.names } }

  /// Checks an edit.
  ///
  /// - Throws: the refusal that it would meet.
  package func check(_ edit: SiteEdit) throws(RegionRefusal) {
    var trial = value
    _ = try trial.carryOut(edit)
  }

  /// Makes an edit; loop 0 alone does so while the server runs.
  ///
  /// - Returns: the changes for the engines, in their order.
  /// - Throws: the refusal; nothing has changed then.
  package func carryOut(_ edit: SiteEdit) throws(RegionRefusal) -> [RegionChange] {
    try state.withLock { (state) throws(RegionRefusal) in
      let before = state.site.site
      let changes = try state.site.carryOut(edit)
      let after = state.site.site
      if before.observers != after.observers || before.beacons != after.beacons || before.zones != after.zones
      {
        state.names = SiteNames(after)
      }
      return changes
    }
  }
}
