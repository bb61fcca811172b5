#if NATS
import CNats

/// A message to be published.
struct NATSOutgoing {
  var bytes: [UInt8]
  var subject: String
  var id: String?
  /// The sequence of the stream's last message that has to be true for this one to be stored.
  var last: UInt64?
  /// The operation of a bucket: nil for a value.
  var operation: String?

  init(_ bytes: [UInt8], _ subject: String, id: String? = nil) {
    (self.bytes, self.subject, self.id) = (bytes, subject, id)
  }

  /// Makes the library's message, which the caller destroys.
  func message(on connection: NATSConnection) throws(NATSError) -> OpaquePointer? {
    // Headers have a share of the payload.
    let room = connection.maximumPayload - 1_024
    guard Int64(bytes.count) <= room else {
      throw .tooLong("a message on \(subject)", bytes: bytes.count, maximum: room)
    }
    var message: OpaquePointer?
    let status = bytes.withUnsafeBytes {
      natsMsg_Create(
        &message,
        subject,
        nil,
        $0.baseAddress?.assumingMemoryBound(to: CChar.self),
        Int32($0.count)
      )
    }
    try check(status, at: "a message on \(subject)")
    // The library's option sends nothing for 0, an empty stream.
    if let last {
      try check(natsMsgHeader_Set(message, "Nats-Expected-Last-Sequence", "\(last)"), at: subject)
    }
    if let operation { try check(natsMsgHeader_Set(message, "KV-Operation", operation), at: subject) }
    return message
  }

  /// Calls a function with the options of the publication.
  func withOptions<Result>(_ time: Int, stream: String, _ body: (inout jsPubOptions) -> Result) -> Result {
    withCStrings([stream, id ?? ""]) { pointers in
      var options = jsPubOptions()
      jsPubOptions_Init(&options)
      options.MaxWait = Int64(max(time, 1))
      options.ExpectStream = pointers?[0]
      if id != nil { options.MsgId = pointers?[1] }
      return body(&options)
    }
  }
}
#endif
