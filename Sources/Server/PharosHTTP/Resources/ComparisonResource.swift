import HTTPTypes
import PharosDelivery
import PharosDocuments
import PharosJournal
import PharosModel

/// The comparisons of rules on captures.
struct ComparisonResource: Resource {
  let journal: Journal
  let commitPublisher: CommitPublisher
  let recordings: Recordings
  let comparing: CaptureComparison.Maker?
  let clock: @Sendable () -> Timestamp

  /// The time-outs that a rule may have.
  ///
  /// - Units: s.
  private static let timeouts = 1.0...3_600.0
  /// The maximum length of a capture when it is unpacked: four times that of an upload.
  ///
  /// - Units: bytes.
  private static let largestCapture = 4 * Uploads.largest
  /// The maximum time that a comparison may take.
  private static let maximumComparison = Duration.seconds(60)

  var routes: [Route] {
    [
      Route(
        .get,
        Uploads.path,
        Operation(
          "listComparisons",
          .operation,
          "List the comparisons of captures",
          "The newest first; the newest 20 are kept."
        )
        .answering(.list("comparisons", of: .comparison))
        .failing(.unavailable),
        access: .operation,
        handler: listComparisons
      ),
      Route(
        .post,
        Uploads.path,
        Operation(
          "makeComparison",
          .operation,
          "Compare presence rules on a capture",
          """
          Plays a capture (pcap, pcapng, btsnoop, a recording; plain or gzipped; at most 256 MiB) to Pharos, \
          to a fixed time-out and to the rules of other systems, and makes a page of the result. The capture \
          is not kept. One capture at a time.
          """
        )
        .with(
          .query("name", .name, "The name of the capture for people."),
          .query(
            "timeout",
            .number(ComparisonResource.timeouts).usually(.integer(30)),
            "The time-out of the rule in use, in seconds."
          )
        )
        .receiving(.capture)
        .answering(.made(.comparison))
        .failing(.notFound),
        access: .operation,
        long: true,
        handler: makeComparison
      ),
      Route(
        .post,
        "/v1/recordings/{id}/comparison",
        Operation(
          "compareRecording",
          .operation,
          "Compare presence rules, and an edited site, on a recording",
          """
          Plays a recording that has ended to the rules of `makeComparison`, with the regions and rooms of the site as it \
          was recorded, and, if one is given, to Pharos with an edited site. Every rule begins with nothing heard.
          """
        )
        .with(.path("id", "The recording."))
        .receiving(.closed(.given(RecordedComparison.members)), isRequired: false)
        .answering(.made(.comparison))
        .failing(.notFound, .conflict),
        access: .operation,
        long: true,
        handler: compareRecording
      ),
      Route(
        .get,
        "/v1/comparisons/{id}",
        Operation(
          "getComparison",
          .operation,
          "Read the page of a comparison",
          "HTML that needs no other file. No token is needed: the identifier cannot be guessed."
        )
        .with(.comparison)
        .answering(.done("text/html", .text))
        .failing(.unavailable),
        access: .anyone,
        conditional: true,
        handler: getComparison
      ),
      Route(
        .delete,
        "/v1/comparisons/{id}",
        Operation("deleteComparison", .operation, "Drop a comparison")
          .with(.comparison)
          .answering(.nothing("Dropped.")),
        access: .operation,
        handler: deleteComparison
      ),
    ]
  }

  private var comparisons: ComparisonStore { ComparisonStore(journal: journal) }

  private func listComparisons(_ request: APIRequest) async throws -> APIAnswer {
    let gate = commitPublisher.gate(for: request.principal)
    let all = try await BackgroundExecutor.requests.run { [comparisons] in
      try comparisons.all().filter { !gate.hidesWord(of: $0.comparison.page) }
    }
    return .json { json in
      json.objects("comparisons", all.map { (id: $0.id, comparison: $0.comparison) }, Self.members)
    }
  }

  fileprivate static let members: [DocumentField<(id: String, comparison: CaptureComparison)>] = [
    .always(
      "id",
      .text,
      "128 random bits in hexadecimal. Every client that has it may read the page."
    ) { $0.id },
    .always("name", .text) { $0.comparison.name },
    .always("madeAt", .moment) { $0.comparison.madeAt },
    .always("headline", .text, "The result in one to three sentences.") { $0.comparison.headline },
  ]

  private func makeComparison(_ request: APIRequest) async throws -> APIAnswer {
    var query = request.query
    let name = query.text("name").map { PlainText.cut(PlainText.clean($0), to: 100) } ?? "capture"
    let timeout = query.number("timeout", in: ComparisonResource.timeouts) ?? 30
    try query.finish()
    guard let path = request.upload else {
      throw Problem.notFound("This server compares no captures; `pharos compare` does.")
    }
    return try await compare(path, name: name, timeout: timeout)
  }

  private func compareRecording(_ request: APIRequest) async throws -> APIAnswer {
    let known = DocumentField.keys(RecordedComparison.members)
    var given = RecordedComparison()
    if !request.body.isEmpty {
      given = try BodyDocument.read(request.body, name: "comparison", known: known) {
        var given = RecordedComparison()
        DocumentField.read(RecordedComparison.members, of: $0, into: &given)
        return given
      }
    }
    let recording = try await recordings.found(request.parameter("id"))
    guard recording.endsAt == nil, let path = recordings.path(of: recording.id) else {
      throw Problem.conflict("stillRecording", "The recording goes on. Wait until it is over, or end it.")
    }
    let name = "recording of \(recording.startedAt)"
    return try await compare(path, name: name, timeout: given.timeout, edited: given.site)
  }

  /// Compares a capture and keeps the page.
  private func compare(
    _ path: String,
    name: String,
    timeout: Double,
    edited: String? = nil
  ) async throws -> APIAnswer {
    guard let make = comparing else {
      throw Problem.notFound("This server compares no captures; `pharos compare` does.")
    }
    let made: (headline: String, page: String)
    do {
      made = try await BackgroundExecutor.requests.run {
        let end = ContinuousClock.now + ComparisonResource.maximumComparison
        return try make(path, name, .seconds(timeout), edited) { bytes in
          try Task.checkCancellation()
          let (limit, time) = (
            ComparisonResource.largestCapture, ComparisonResource.maximumComparison.components.seconds
          )
          guard bytes <= limit else {
            throw CaptureComparison.Refused(
              "The capture unpacks to more than \(limit) bytes; send a part of it."
            )
          }
          guard ContinuousClock.now < end else {
            throw CaptureComparison.Refused(
              "The comparison takes more than \(time) s; send a part of the capture, or run `pharos compare`."
            )
          }
        }
      }
    } catch let refused as CaptureComparison.Refused {
      throw Problem("notComparable", "The capture cannot be compared", status: 422, detail: refused.reason)
    }
    let comparison = CaptureComparison(
      name: name,
      madeAt: clock(),
      headline: made.headline,
      page: made.page
    )
    let id = try await BackgroundExecutor.requests.run { [comparisons] in try comparisons.keep(comparison) }
    return .put(isNew: true, at: "comparisons", id) {
      DocumentField.write(Self.members, of: (id, comparison), to: &$0)
    }
  }

  /// What a client gives to compare a recording.
  private struct RecordedComparison: Sendable {
    var timeout = 30.0
    var site: String?

    static let members: [DocumentField<RecordedComparison>] = [
      DocumentField(
        "timeout",
        \.timeout,
        .number(in: ComparisonResource.timeouts),
        "The time-out of the rule in use, in seconds; by default 30."
      ),
      DocumentField("site", \.site, .lines, "The text of an edited site file, as `getSite` answers it."),
    ]
  }

  /// Answers with the page, to every client that has its address, so that a person can pass the address on.
  private func getComparison(_ request: APIRequest) async throws -> APIAnswer {
    let id = request.parameter("id")
    let gate = commitPublisher.gate(for: .local)
    let found = try await BackgroundExecutor.requests.run { [comparisons] in
      try comparisons.comparison(id).flatMap { gate.hidesWord(of: $0.page) ? nil : $0 }
    }
    guard let comparison = found else {
      throw Problem.notFound("There is no such comparison; the newest \(ComparisonStore.capacity) are kept.")
    }
    var answer = APIAnswer.bytes(Array(comparison.page.utf8), type: "text/html; charset=utf-8")
    answer.headers[named: "Content-Security-Policy"] =
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
    return answer
  }

  private func deleteComparison(_ request: APIRequest) async throws -> APIAnswer {
    let id = request.parameter("id")
    guard try await BackgroundExecutor.requests.run({ [comparisons] in try comparisons.drop(id) }) else {
      throw Problem.notFound("There is no such comparison.")
    }
    return .noContent
  }
}

extension Operation.Parameter {
  fileprivate static let comparison = path("id", "The comparison.")
}

extension Schema {
  static let comparison = Schema.object(ComparisonResource.members).named("Comparison")
}
