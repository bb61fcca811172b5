/// A bill of materials, in the members of CycloneDX 1.6.
struct Bill: Encodable {
  var bomFormat = "CycloneDX"
  var specVersion = "1.6"
  var version = 1
  var metadata: Metadata
  var components: [Component]
  var dependencies: [Dependency]
}

/// What the bill is about.
struct Metadata: Encodable {
  var component: Component
}

/// What a component needs.
struct Dependency: Encodable {
  var reference: String
  var dependsOn: [String]

  enum CodingKeys: String, CodingKey {
    case reference = "ref"
    case dependsOn
  }
}
