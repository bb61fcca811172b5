package import PharosReports
package import PharosSite

/// Where an application, a region or a ranging request comes from.
package enum Registration: String, Hashable, Sendable {
  /// From the site file, which alone changes it.
  case site
  /// Over HTTP; it is kept in the journal and changed over HTTP.
  case http
}

/// An application as the interface shows it: what the site file declares and what was added over HTTP.
package struct RegisteredApplication: Hashable, Sendable {
  /// A region and where it comes from.
  package struct RegisteredRegion: Hashable, Sendable {
    /// The region.
    package var region: Region
    /// Where it comes from.
    package var source: Registration
  }

  /// A ranging request, its name and where it comes from.
  package struct RegisteredRanging: Hashable, Sendable {
    /// Its name; one of the site file, which has none, goes by what it ranges.
    package var name: String
    /// The request.
    package var request: RangingRequest
    /// Where it comes from.
    package var source: Registration
  }

  /// The application's identifier.
  package var identifier: String
  /// Where it comes from.
  package var source: Registration
  /// How many regions it may hold.
  package var regionLimit: Int
  /// Its regions, by identifier.
  package var regions: [RegisteredRegion]
  /// What it ranges, by name.
  package var ranging: [RegisteredRanging]
  /// How many regions its rotation holds.
  package var rotated: Int

  /// Returns the application that the engine adopts.
  ///
  /// - Parameter declared: the site file's declaration of it, which holds its rotation.
  /// - Returns: the application.
  func application(declared: Application?) -> Application {
    Application(
      identifier: identifier,
      regions: regions.map(\.region),
      ranging: ranging.map(\.request),
      rotation: declared?.rotation ?? [],
      regionLimit: regionLimit
    )
  }
}

/// What was made over HTTP for one application.
package struct MadeApplication: Hashable, Sendable {
  /// What the application says of itself, if it was made over HTTP.
  package var document: ApplicationDocument?
  /// Its regions by identifier.
  package var regions: [String: Region] = [:]
  /// What it ranges, by name.
  package var ranging: [String: RangingRequest] = [:]

  package init(
    document: ApplicationDocument? = nil,
    regions: [String: Region] = [:],
    ranging: [String: RangingRequest] = [:]
  ) {
    self.document = document
    self.regions = regions
    self.ranging = ranging
  }

  /// Whether nothing is left.
  package var isEmpty: Bool { document == nil && regions.isEmpty && ranging.isEmpty }
}
