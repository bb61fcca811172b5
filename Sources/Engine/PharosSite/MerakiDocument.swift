import PharosDocuments

/// How the posts of Cisco Meraki's Scanning API prove themselves: it checks the receiver by a validator, and itself by a secret in
/// each body.
///
/// - Source: developer.cisco.com/meraki/scanning-api.
package struct MerakiPosts: Hashable, Sendable {
  /// The text by which Meraki recognises the receiver.
  package var validator: String?
  /// The path of the file that holds the secret.
  package var secretFile: String?
  /// The environment variable that holds the secret.
  package var secretVariable: String?

  /// The name of the secret in messages.
  package static let secretName = "the secret of Cisco Meraki's posts"

  /// States nothing.
  package init() {}
}

extension MerakiPosts {
  static let properties: [DocumentField<MerakiPosts>] = [
    DocumentField("validator", \.validator, .text(length: 1...256)),
    DocumentField("secretFile", \.secretFile, .filled("the path of a file")),
    DocumentField("secretVariable", \.secretVariable, .filled("the name of an environment variable")),
  ]
}

extension MerakiPosts {
  /// Reads how Meraki's posts prove themselves.
  static func read(_ listen: DocumentFields) -> MerakiPosts? {
    guard let fields = listen.fields("meraki", known: DocumentField.keys(properties)) else { return nil }
    var posts = MerakiPosts()
    DocumentField.read(properties, of: fields, into: &posts)
    if posts.secretFile != nil, posts.secretVariable != nil {
      fields.mistake(
        "secretVariable",
        "secretFile and secretVariable both say where the secret is",
        expected: "one of them"
      )
    }
    return posts
  }
}
