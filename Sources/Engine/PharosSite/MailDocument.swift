import PharosDocuments
import PharosModel

extension MailRelay {
  /// The members of `publish.mail`.
  static let properties: [DocumentField<MailRelay>] = [
    DocumentField("relay", \.place, .relay, isRequired: true),
    DocumentField("sender", \.sender, .sender, isRequired: true),
  ]

  /// Reads the relay that takes mail, within `publish`.
  static func read(_ publish: DocumentFields) -> MailRelay? {
    let known = DocumentField.keys(MailRelay.properties)
    guard let fields = publish.fields("mail", known: known) else { return nil }
    var relay = MailRelay(HostPort(host: "", port: 0), sender: "")
    DocumentField.read(MailRelay.properties, of: fields, into: &relay)
    return relay.sender.isEmpty || !relay.place.isDestination ? nil : relay
  }
}

extension ValueForm where Value == HostPort {
  fileprivate static var relay: Self {
    ValueForm(
      expected: "HOST:PORT of a mail server that takes mail without credentials, as in localhost:25",
      text: { "\($0)" },
      parse: { text in HostPort(text).flatMap { $0.isDestination ? $0 : nil } }
    )
  }
}

extension ValueForm where Value == String {
  fileprivate static var sender: Self {
    ValueForm(expected: "an address, as in pharos@example.org") { MailRelay.isAddress($0) ? $0 : nil }
  }
}
