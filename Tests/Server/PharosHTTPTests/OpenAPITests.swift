import HTTPTypes
import PharosDelivery
import PharosHTTP
import PharosModel
import PharosPublishing
import Testing

/// The description says what is there, all of it and nothing else.
@Suite("The description of the interface", .timeLimit(.minutes(20)))
struct OpenAPITests {
  private let checker: SchemaChecker

  init() async throws { checker = SchemaChecker(description: try await TestService.description()) }

  private var operations: [(path: String, method: String, operation: JSON)] {
    (checker.description["paths"].members ?? [:]).keys.sorted().flatMap { path in
      (checker.description["paths"][path].members ?? [:]).keys.sorted().map { method in
        (path, method, checker.description["paths"][path][method])
      }
    }
  }

  @Test("every route is described, and everything that is described is a route")
  func bothWays() throws {
    let backend = try TestService.parts(site: .gallery)
    let cache = LiveStateCache(
      committed: CommittedEventHub(),
      rows: { PublishedState() },
      revision: { backend.authorisations.view.revision }
    )
    let routes = Endpoints(backend: backend, cache: cache).routes
    let served = Set(
      routes.map {
        "\($0.method.rawValue.lowercased()) \($0.path.replacing("**", with: "{file}"))"
      }
    )
    #expect(served.count == routes.count)
    #expect(served == Set(operations.map { "\($0.method) \($0.path)" }))
    for route in routes {
      let path = route.path.replacing("**", with: "{file}")
      let operation = checker.description["paths"][path][route.method.rawValue.lowercased()]
      let described = operation["parameters"].elements.filter { $0["in"].string == "query" }
      #expect(Set(described.compactMap { $0["name"].string }) == Set(route.query), "\(path)")
      let hasBody = if case .none = route.body { false } else { true }
      #expect((operation["requestBody"].members != nil) == hasBody, "\(path)")
      #expect((operation["responses"]["304"].members != nil) == route.isConditional, "\(path)")
      let isOpen = operation["security"].elements.isEmpty && operation["security"].value != nil
      #expect(isOpen == (route.access == .anyone), "\(path)")
    }
  }

  /// Generators of clients read JSON, texts and bytes; what they do not know they leave out with a warning.
  @Test("every answer has a type that generators of clients know, and bytes say what they are")
  func contentTypes() {
    var types: Set<String> = []
    for (path, method, operation) in operations {
      for status in (operation["responses"].members ?? [:]).keys.sorted() {
        let content = operation["responses"][status]["content"]
        guard let names = content.members?.keys.sorted() else { continue }
        let known = names.filter {
          $0 == "application/json" || $0.hasSuffix("+json") || $0.hasPrefix("text/")
            || $0 == "application/octet-stream"
        }
        #expect(!known.isEmpty, "\(method) \(path), \(status): \(names)")
        for name in names where content[name]["schema"]["format"].string == "binary" {
          #expect(content[name]["schema"]["contentMediaType"].string == name)
          types.insert(name)
        }
      }
    }
    #expect(types.isSuperset(of: ["image/png", "application/vnd.sqlite3", "application/octet-stream"]))
  }

  @Test("every kind of event is described, for webhooks those that the journal keeps")
  func kinds() {
    func names(_ kinds: [EventKind]) -> Set<String> {
      Set(kinds.flatMap { [$0.type, String($0.type.dropFirst("pharos.".count))] })
    }
    let parameters = checker.description["paths"]["/v1/events"]["get"]["parameters"].elements
    let asked = parameters.first { $0["name"].string == "kind" }?["schema"]["items"]["enum"].elements ?? []
    #expect(Set(asked.compactMap(\.string)) == names(EventKind.allCases).union(EventKind.names))
    let document = checker.resolve("#/components/schemas/WebhookDocument")
    let sent = document["properties"]["filter"]["properties"]["kinds"]["items"]["enum"].elements
    #expect(Set(sent.compactMap(\.string)) == names(EventKind.allCases.filter(\.isJournalled)))
  }

  @Test("operations have names of their own, and references lead somewhere")
  func soundness() throws {
    let names = operations.compactMap { $0.operation["operationId"].string }
    #expect(Set(names).count == operations.count)
    var references: [String] = []
    func walk(_ value: Any) {
      if let object = value as? [String: Any] {
        if let reference = object["$ref"] as? String { references.append(reference) }
        // Generators of clients do not know what to make of an array of nothing.
        if object["type"] as? String == "array"
          || (object["type"] as? [Any])?.contains(where: { $0 as? String == "array" }) == true
        {
          #expect(object["items"] is [String: Any], "an array without items: \(object)")
        }
        object.values.forEach(walk)
      }
      (value as? [Any])?.forEach(walk)
    }
    walk(try #require(checker.description.value))
    #expect(!references.isEmpty)
    for reference in Set(references) {
      #expect(checker.resolve(reference).members != nil, "\(reference) leads nowhere")
    }
    for (path, method, operation) in operations {
      let named = path.matches(of: /\{(\w+)\}/).map { String($0.output.1) }
      let described = operation["parameters"].elements.filter { $0["in"].string == "path" }
      #expect(named == described.compactMap { $0["name"].string }, "\(method) \(path)")
    }
  }

  @Test("the schemas of request bodies allow no other members, as their readers do")
  func requestsAreClosed() {
    func open(_ schema: JSON, at path: String) -> [String] {
      if let reference = schema["$ref"].string { return open(checker.resolve(reference), at: path) }
      var found = schema["items"].members == nil ? [] : open(schema["items"], at: path + "[]")
      if schema["additionalProperties"].bool == true { found.append(path) }
      guard let members = schema["properties"].members else { return found }
      if schema["additionalProperties"].bool != false { found.append(path) }
      for name in members.keys.sorted() { found += open(schema["properties"][name], at: "\(path).\(name)") }
      return found
    }
    for (path, method, operation) in operations {
      let schema = operation["requestBody"]["content"]["application/json"]["schema"]
      #expect(open(schema, at: "$").isEmpty, "\(method) \(path)")
    }
  }

  @Test("a member that no schema allows is refused, by every operation")
  func unknownMembers() async throws {
    try await TestService.run { service in
      try await service.fill()
      for change in service.changes where change.path != "/v1/adverts" {
        guard let body = change.body, body.hasSuffix("}") else { continue }
        let more = body.dropLast() + (body == "{}" ? "" : ",") + "\"noSuchMember\":1}"
        let answer = try await service.request(
          change.method,
          service.example(change.path),
          body: String(more)
        )
        #expect(answer.status == 422, "\(change.method) \(change.path): \(answer.text)")
        #expect(answer.text.contains("noSuchMember"), "\(change.method) \(change.path): \(answer.text)")
      }
    }
  }

  @Test("answers match their description")
  func conformance() async throws {
    try await TestService.run(venues: [try .museum(isComplete: true)]) { service in
      try await service.fill()
      // What asks for a validator gets one only if the site states it, and a token in the path is one in a header.
      let adverts = ["/v1/adverts", "/v1/adverts/{token}"]
      for (path, method, operation) in operations where method == "get" && !adverts.contains(path) {
        let target = service.example(path)
        let answer = try await service.request("GET", target)
        try check(answer, operation, "\(method) \(target)")
        #expect(answer.status == 200, "\(target): \(answer.text)")
      }
      let changes = service.changes
      let described = Set(
        operations.filter { $0.method != "get" && $0.path != adverts[1] }.map { "\($0.method) \($0.path)" }
      )
      #expect(Set(changes.map { "\($0.method.lowercased()) \($0.path)" }) == described)
      for change in changes {
        let operation = checker.description["paths"][change.path][change.method.lowercased()]
        let target = service.example(change.path)
        if let body = change.body {
          let schema = operation["requestBody"]["content"]["application/json"]["schema"]
          let mistakes = checker.mistakes(try JSON(Array(body.utf8)), schema)
          #expect(mistakes.isEmpty, "\(change.path): \(mistakes.joined(separator: "; "))")
        }
        let answer = try await service.request(change.method, target, body: change.body)
        try check(answer, operation, "\(change.method) \(target)")
        #expect(answer.status == change.status, "\(change.method) \(target): \(answer.text)")
      }
    }
  }

  @Test("failures are problems as they are described")
  func failures() async throws {
    try await TestService.run { service in
      for (path, method, operation) in operations where path.contains("{") {
        let target = path.replacing(/\{\w+\}/, with: "nothing%20here")
        let body = operation["requestBody"].members == nil ? nil : "{}"
        let answer = try await service.request(method.uppercased(), target, body: body)
        guard answer.status >= 300 else { continue }
        try check(answer, operation, "\(method) \(target)")
        #expect(answer.status < 500, "\(method) \(target): \(answer.text)")
        #expect(
          operation["responses"]["\(answer.status)"].members != nil,
          "\(method) \(target): \(answer.status)"
        )
      }
    }
  }

  private func check(_ answer: WireAnswer, _ operation: JSON, _ what: String) throws {
    var response = operation["responses"]["\(answer.status)"]
    if response.members == nil { response = operation["responses"]["default"] }
    if let reference = response["$ref"].string { response = checker.resolve(reference) }
    #expect(response.members != nil, "\(what): \(answer.status) is not described")
    guard let content = response["content"].members else {
      #expect(answer.body.isEmpty, "\(what): \(answer.status) has a body that is not described")
      return
    }
    let type = answer.headers["content-type"].map { String($0.prefix { $0 != ";" }) } ?? ""
    #expect(content[type] != nil, "\(what): \(type) is not described for \(answer.status)")
    guard type.hasSuffix("json") else { return }
    let mistakes = checker.mistakes(try answer.json, response["content"][type]["schema"])
    #expect(mistakes.isEmpty, "\(what): \(mistakes.joined(separator: "; "))")
  }
}
