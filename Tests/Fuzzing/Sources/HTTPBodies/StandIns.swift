/// What the readers of bodies and queries ask of a request; the real one knows the server, which is not built here.
struct APIRequest {
  /// The query, decoded.
  var query = QueryItems()
}

/// What the reader of webhooks asks of the listing; the real one knows the journal, which is not built here.
enum WebhookStanding {
  /// Members that cannot be set.
  static let readOnlyMembers = ["id", "state", "cursor"]
}
