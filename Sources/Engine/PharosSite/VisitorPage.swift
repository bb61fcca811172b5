/// The public page of a venue, which everyone can read who reaches the server: `visitors: true` in the venue's entry.
///
/// Places, floors and ways are on it, and nothing about subjects, observers or beacons.
package struct VisitorPage: Hashable, Sendable {
  /// The web address that opens the venue's application at what is near the visitor; nil for no such link.
  package var nearMe: String?

  /// Makes a page.
  package init(nearMe: String? = nil) { self.nearMe = nearMe }
}
