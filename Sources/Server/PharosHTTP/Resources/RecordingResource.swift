import HTTPTypes
import Pharos
import PharosDelivery
import PharosDocuments
import PharosIngest
import PharosModel

/// The recordings of all inputs that operators make while the server runs.
struct RecordingResource: Resource {
  let recordings: Recordings
  let server: PharosServer
  let clock: @Sendable () -> Timestamp

  private static let path = "/v1/recordings"

  var routes: [Route] {
    [
      Route(
        .get,
        RecordingResource.path,
        Operation("listRecordings", .operation, "List the recordings of all inputs", "The newest first.")
          .answering(.list("recordings", of: .recording)),
        access: .operation
      ) { _ in
        let all = try await BackgroundExecutor.requests.run { recordings.list() }
        return .json { $0.objects("recordings", all, Self.members) }
      },
      Route(
        .post,
        RecordingResource.path,
        Operation(
          "startRecording",
          .operation,
          "Record all inputs from now on",
          """
          Begins a file in the data folder, as `serve --record` writes it: `pharos process` of it gives the same events from \
          its beginning on. One at a time; the newest \(Recordings.capacity) are kept, none longer than events are, and \
          none when a subject is erased.
          """
        )
        .receiving(.closed(.given(RecordingLimits.members)), isRequired: false)
        .answering(
          .made(.recording),
          .refused(HTTPResponse.Status(code: 507), "The disk has no room.", .problem)
        )
        .failing(.conflict, .unavailable),
        access: .operation,
        handler: start
      ),
      Route(
        .get,
        RecordingResource.path + "/{id}",
        Operation("getRecording", .operation, "One recording and how far it is")
          .with(.recording)
          .answering(.recording),
        access: .operation
      ) { request in
        .json(Self.members, of: try await found(request))
      },
      Route(
        .post,
        RecordingResource.path + "/{id}/end",
        Operation("endRecording", .operation, "End a recording before its time, and keep it")
          .with(.recording)
          .answering(.recording)
          .failing(.unavailable),
        access: .operation
      ) { request in
        if try await found(request).endsAt != nil { try await server.endRecording() }
        return .json(Self.members, of: try await found(request))
      },
      Route(
        .delete,
        RecordingResource.path + "/{id}",
        Operation("deleteRecording", .operation, "Drop a recording; one that goes on ends")
          .with(.recording)
          .answering(.nothing("Dropped."))
          .failing(.unavailable),
        access: .operation
      ) { request in
        let recording = try await found(request)
        if recording.endsAt != nil { try await server.endRecording() }
        _ = try await BackgroundExecutor.requests.run { recordings.remove(recording.id) }
        return .noContent
      },
    ]
  }

  private func found(_ request: APIRequest) async throws -> Recordings.Recording {
    try await recordings.found(request.parameter("id"))
  }

  private func start(_ request: APIRequest) async throws -> APIAnswer {
    let limits =
      try request.body.isEmpty
      ? RecordingLimits()
      : BodyDocument.read(request.body, name: "recording", known: DocumentField.keys(RecordingLimits.members))
      {
        var limits = RecordingLimits()
        DocumentField.read(RecordingLimits.members, of: $0, into: &limits)
        return limits
      }
    let recording = try await recordings.start(
      duration: .seconds(Double(limits.seconds)),
      maximumBytes: limits.bytes,
      at: clock()
    ) { _ = try await server.record($0) }
    return .put(isNew: true, at: "recordings", recording.id) {
      DocumentField.write(Self.members, of: recording, to: &$0)
    }
  }

  fileprivate static let members: [DocumentField<Recordings.Recording>] = [
    .always("id", .text) { $0.id },
    .always("startedAt", .moment) { $0.startedAt },
    .sometimes("endsAt", .moment, "The time at which it ends; missing once it has ended.") { $0.endsAt },
    .sometimes("endedAt", .moment, "The time at which it ended; missing while it goes on.") { $0.endedAt },
    .always("bytes", .count, "Its size so far.") { $0.bytes },
    .sometimes("maximumBytes", .count, "The size at which it ends; missing once it has ended.") {
      $0.maximumBytes
    },
    .sometimes("problem", .text, "The reason for which it ended before its time.") { $0.problem },
  ]
}

/// The limits that a client may set to a recording.
private struct RecordingLimits: Sendable {
  var seconds = 3_600
  var bytes = Recordings.usualSize

  static let members: [DocumentField<RecordingLimits>] = [
    DocumentField(
      "seconds",
      \.seconds,
      .integer(in: 1...Int(Recordings.maximumDuration.seconds)),
      "The time after which it ends; by default an hour."
    ),
    DocumentField(
      "bytes",
      \.bytes,
      .integer(in: Recordings.sizes),
      "The size at which it ends; by default 256 MiB. As much has to be free on the disk, and 256 MiB more."
    ),
  ]
}

extension Operation.Parameter {
  fileprivate static let recording = path("id", "The recording.")
}

extension Schema {
  static let recording = Schema.object(RecordingResource.members).named("Recording")
}
