package import PharosHTTP
package import PharosSite
import PharosSpace

extension LoadedVenues {
  /// The venues as the HTTP interface serves them.
  package var served: [ServedVenue] {
    entries.map { entry in
      ServedVenue(entry.contents.venue, router: entry.router) { name in
        try VenueFiles.disk(entry.folder).whole(name)
      }
    }
  }
}
