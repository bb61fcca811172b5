import Foundation
import NIOCore
import NIOPosix
import PharosDelivery
import PharosModel
import Synchronization
import Testing

/// Notifications as e-mail: the message, the session, and a relay on a socket.
@Suite("Mail", .timeLimit(.minutes(5)))
struct MailTests {
  private static func mail(title: String = "Gate 7", text: String = "Leave now.") -> MailMessage {
    var detail = NotificationDetail(
      rule: "gate",
      occasion: .deadline,
      text: text,
      cause: EventID(high: 1, low: 2)
    )
    detail.title = title
    let event = Event(
      stream: Samples.stream,
      kind: .notification,
      time: Samples.start,
      decidedAt: Samples.start,
      stage: 0,
      subject: Samples.subject(1),
      application: "gallery",
      counter: 1,
      detail: .notification(detail)
    )
    return MailMessage(of: event, from: "pharos@example.org", to: "ada@example.org", at: Samples.start)
  }

  private static func lines(_ mail: MailMessage) -> [String] {
    String(decoding: mail.content, as: UTF8.self).replacing("\r\n", with: "\n").split(separator: "\n").map {
      "\($0)"
    }
  }

  @Test("a text of any script and any length becomes short ASCII lines, and comes back")
  func message() throws {
    let text = "Grüße, 東京\n.\nFrom: me\r\n" + String(repeating: "é", count: 400)
    let mail = Self.mail(title: String(repeating: "日本 \"q\"\r\nBcc: eve@example.org", count: 5), text: text)
    let content = String(decoding: mail.content, as: UTF8.self)
    #expect(mail.content.allSatisfy { $0 < 0x80 })
    #expect(Self.lines(mail).allSatisfy { $0.utf8.count <= 78 })
    #expect(!content.contains("\nBcc"), "a title is one header")
    let body = try #require(content.split(separator: "\r\n\r\n", maxSplits: 1).last)
    let data = try #require(Data(base64Encoded: String(body.replacing("\r\n", with: ""))))
    let lines = text.replacing("\r\n", with: "\n").replacing("\n", with: "\r\n")
    #expect(String(decoding: data, as: UTF8.self) == lines + "\r\n")
    #expect(Self.lines(mail).contains("Date: Sun, 15 Jun 2025 15:06:40 +0000"))
    #expect(Self.mail().content == Self.mail().content, "an attempt repeats the Message-ID")
  }

  @Test(
    "addresses",
    arguments: [
      ("ada@example.org", true), ("a.b+c@x-y.example", true), ("ada", false), ("@example.org", false),
      ("ada@", false), ("a b@example.org", false), ("ada@example.org\r\nRCPT TO:<eve@x>", false),
      ("a@b@c", false),
      ("é@example.org", false), ("a..b@example.org", false),
    ]
  )
  func addresses(text: String, isGood: Bool) {
    #expect(MailRelay.isAddress(text) == isGood)
  }

  private static func play(_ session: inout SMTPSession, _ reply: String) -> [SMTPSession.Step] {
    Array("\(reply)\r\n".utf8).map { session.receive($0) }.filter { $0 != .wait }
  }

  private static func command(_ text: String) -> [SMTPSession.Step] { [.send(Array("\(text)\r\n".utf8))] }

  @Test("a session hands the mail over")
  func session() {
    var session = SMTPSession(Self.mail())
    #expect(Self.play(&session, "220 mail.example.org ESMTP") == Self.command("EHLO pharos"))
    #expect(Self.play(&session, "250-mail.example.org").isEmpty)
    #expect(Self.play(&session, "250 SIZE 1000000") == Self.command("MAIL FROM:<pharos@example.org>"))
    #expect(Self.play(&session, "250 ok") == Self.command("RCPT TO:<ada@example.org>"))
    #expect(Self.play(&session, "250 ok") == Self.command("DATA"))
    #expect(Self.play(&session, "354 go on") == [.send(Self.mail().content + Array(".\r\n".utf8))])
    #expect(Self.play(&session, "250 queued") == [.finish(.delivered, closing: Array("QUIT\r\n".utf8))])
  }

  @Test("a refusal at any point is a failure with the relay's words", arguments: 0..<6)
  func refusal(at step: Int) {
    var session = SMTPSession(Self.mail())
    let replies = ["220 hi", "250 hi", "250 ok", "250 ok", "354 go on", "250 queued"]
    for reply in replies.prefix(step) { _ = Self.play(&session, reply) }
    let steps = Self.play(&session, "550 no such user")
    guard case .finish(.failed(let reason, _), _)? = steps.first else {
      Issue.record("step \(step) did not fail")
      return
    }
    #expect(reason.contains("550 no such user"))
  }

  @Test("a server that speaks no SMTP is no relay, however long its lines")
  func noRelay() {
    var session = SMTPSession(Self.mail())
    #expect(Self.play(&session, "HTTP/1.1 400 Bad Request").count == 1)
    session = SMTPSession(Self.mail())
    let steps = (0...SMTPSession.maximumLine).map { _ in session.receive(0x41) }
    guard case .finish(.failed, _)? = steps.last else {
      Issue.record("an endless line was accepted")
      return
    }
  }

  /// A relay that takes every mail, on a free port.
  private final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    let received: AsyncStream<String>.Continuation
    private let text = Mutex("")

    init(_ received: AsyncStream<String>.Continuation) { self.received = received }

    func channelActive(context: ChannelHandlerContext) { say("220 relay", context) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      let new = String(buffer: unwrapInboundIn(data))
      let all = text.withLock { text in
        text += new
        return text
      }
      if all.hasSuffix("\r\n.\r\n") {
        received.yield(all)
        say("250 queued", context)
      } else if new == "DATA\r\n" {
        say("354 go on", context)
      } else if !all.contains("DATA\r\n") {
        say("250 ok", context)
      }
    }

    private func say(_ line: String, _ context: ChannelHandlerContext) {
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "\(line)\r\n")), promise: nil)
    }
  }

  @Test("mail goes over a socket to a relay, and a closed port is a failure")
  func socket() async throws {
    let (stream, received) = AsyncStream<String>.makeStream()
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { $0.pipeline.addHandler(Relay(received)) }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(server.localAddress?.port)
    let place = HostPort(host: "127.0.0.1", port: UInt16(port))
    let client = SMTPClient(MailRelay(place, sender: "pharos@example.org"))
    #expect(await client.send(Self.mail(), timeout: .seconds(30)) == .delivered)
    for await text in stream {
      #expect(text.contains("RCPT TO:<ada@example.org>"))
      #expect(text.contains("Message-ID: <"))
      break
    }
    try await server.close()
    guard case .failed = await client.send(Self.mail(), timeout: .seconds(30)) else {
      Issue.record("a closed port took the mail")
      return
    }
  }
}
