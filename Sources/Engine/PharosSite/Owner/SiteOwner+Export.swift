package import PharosModel

extension SiteOwner {
  /// Returns the configuration of a site file together with the registrations over HTTP, as one site file declares it.
  ///
  /// - Parameter configuration: the configuration whose site this owner was given.
  /// - Returns: the configuration, which `SiteFile.text(of:)` writes.
  package func merged(into configuration: SiteConfiguration) -> SiteConfiguration {
    let sources = sources
    var merged = configuration
    merged.site = sources.site
    for (name, made) in sources.made where sources.declaration(of: name) == nil {
      merged.access.purposes[name] = made.settings?.purpose
      merged.access.accuracies[name] = made.settings?.accuracy
    }
    // A file that lists observers lists all that it mentions. Where all observers count, a line for one changes nothing.
    if merged.site.admission == .open, !merged.site.observers.isEmpty {
      let listed = Set(merged.site.observers.map(\.id))
      merged.site.observers += merged.site.mentionedObservers.subtracting(listed).sorted().map {
        ObserverEntry(id: $0)
      }
    }
    return merged
  }
}

extension Site {
  /// The observers that regions and zones name.
  package var mentionedObservers: Set<ObserverID> {
    let regions = applications.flatMap { $0.regions + $0.rotation.flatMap(\.allRegions) }
    let listening = regions.flatMap { region -> [ObserverID] in
      if case .beacon(let observers?) = region.subject { observers } else { [] }
    }
    return Set(listening).union(zones.flatMap(\.observers))
  }
}
