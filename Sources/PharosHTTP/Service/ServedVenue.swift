package import PharosPlaces

/// A venue that the interface shows: what is known of it, and where its floor plans' images are read.
package struct ServedVenue: Sendable {
  /// Reads a file of the venue's folder whole; throws where it cannot be had.
  ///
  /// Takes the image's name as the floor plan has it. It may block.
  package typealias ReadImage = @Sendable (_ name: String) throws -> [UInt8]

  /// The venue.
  package var venue: Venue
  /// Reads the image of a floor plan.
  package var image: ReadImage

  /// Makes a venue that is served.
  package init(_ venue: Venue, image: @escaping ReadImage) {
    self.venue = venue
    self.image = image
  }
}
