/// The client's side of one SMTP session that hands over one mail: replies in, commands out, without a socket.
///
/// Neither TLS nor credentials: the relay is on the premises. No well-kept SMTP library for Swift fits: those that there are bring a
/// TLS stack and a queue of their own, and the queue is the journal.
///
/// - Source: RFC 5321, 3.3 and 4.5.2 (dots at the beginning of lines).
package struct SMTPSession: Sendable {
  /// The next thing to do.
  package enum Step: Hashable, Sendable {
    /// Wait for the rest of the reply.
    case wait
    /// Send these bytes, then wait for the reply.
    case send([UInt8])
    /// The session is over; send these bytes and close the connection.
    case finish(DeliveryOutcome, closing: [UInt8])
  }

  private enum State: Sendable {
    /// Connected; the greeting comes.
    case greeting
    /// EHLO was sent.
    case hello
    /// MAIL was sent.
    case sender
    /// RCPT was sent.
    case receiver
    /// DATA was sent.
    case data
    /// The mail was sent, and the relay has not taken responsibility for it yet.
    case content
    /// The outcome is known.
    case over
  }

  /// The longest line of a reply.
  ///
  /// - Units: bytes. RFC 5321 has 512; some relays say more.
  package static let maximumLine = 2_048

  private let mail: MailMessage
  private var state = State.greeting
  /// The bytes of an unfinished line.
  private var line: [UInt8] = []

  /// Begins a session that hands over a mail.
  package init(_ mail: MailMessage) { self.mail = mail }

  /// Takes the next byte of the relay's replies.
  package mutating func receive(_ byte: UInt8) -> Step {
    guard byte == 0x0A else {
      line.append(byte)
      return line.count > SMTPSession.maximumLine ? fail("the relay sent a line without an end") : .wait
    }
    if line.last == 0x0D { line.removeLast() }
    let text = String(decoding: line, as: UTF8.self)
    line = []
    guard text.utf8.count >= 3, let code = Int(text.prefix(3)), 200...599 ~= code else {
      return fail("the relay speaks no SMTP: \(text.prefix(60))")
    }
    // A reply of several lines has a hyphen behind the code in all of them but the last.
    if text.dropFirst(3).first == "-" { return .wait }
    return reply(code, text)
  }

  /// The connection ended.
  package mutating func ended() -> DeliveryOutcome {
    .failed(reason: "the relay closed the connection before it took the mail", retryAfter: nil)
  }

  private mutating func reply(_ code: Int, _ text: String) -> Step {
    switch (state, code) {
    case (.greeting, 220): return send("EHLO pharos", .hello)
    case (.hello, 250): return send("MAIL FROM:<\(mail.sender)>", .sender)
    case (.sender, 250): return send("RCPT TO:<\(mail.receiver)>", .receiver)
    case (.receiver, 250), (.receiver, 251): return send("DATA", .data)
    case (.data, 354):
      state = .content
      return .send(SMTPSession.stuffed(mail.content) + Array(".\r\n".utf8))
    case (.content, 250):
      state = .over
      return .finish(.delivered, closing: Array("QUIT\r\n".utf8))
    case (.over, _): return .wait
    default: return fail("the relay answered: \(text.prefix(200))")
    }
  }

  private mutating func send(_ command: String, _ next: State) -> Step {
    state = next
    return .send(Array("\(command)\r\n".utf8))
  }

  private mutating func fail(_ reason: String) -> Step {
    state = .over
    return .finish(.failed(reason: reason, retryAfter: nil), closing: Array("QUIT\r\n".utf8))
  }

  /// Returns lines with another dot before each that begins with one.
  private static func stuffed(_ content: [UInt8]) -> [UInt8] {
    var stuffed: [UInt8] = []
    stuffed.reserveCapacity(content.count + 16)
    var isAtStart = true
    for byte in content {
      if isAtStart, byte == 0x2E { stuffed.append(0x2E) }
      stuffed.append(byte)
      isAtStart = byte == 0x0A
    }
    return stuffed
  }
}
