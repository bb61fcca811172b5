package import PharosDocuments

extension Schema {
  /// The texts that name kinds of events, with and without `pharos.` before them, or groups of kinds.
  package static func kinds(_ kinds: [EventKind], or groups: [EventKind.Group] = []) -> Schema {
    let types = kinds.map(\.type)
    let names = types.map { String($0.dropFirst("pharos.".count)) }
    return .words(types + names + groups.map(\.rawValue).filter { !names.contains($0) })
  }

  package static let cloudEvent = Schema.object([
    .required("specversion", .constant("1.0")),
    .required("id", .text),
    .required("source", .text),
    .required("type", .text),
    .optional("subject", .text),
    .required("time", .time),
    .required("datacontenttype", .text),
    .required("data", .anyObject),
  ]).named("CloudEvent")

  package static let journaledEvent = Schema.object([
    .required("sequence", .integer(1...)),
    .required("event", .cloudEvent),
  ]).named("JournaledEvent")
}
