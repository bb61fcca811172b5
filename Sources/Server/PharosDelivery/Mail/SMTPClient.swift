import NIOCore
import NIOPosix
package import PharosModel

/// The sender of mail to a relay: one connection for each.
package struct SMTPClient: Sendable {
  private let place: HostPort

  /// Makes a client of a relay.
  package init(_ relay: MailRelay) { place = relay.place }

  /// Hands a mail over and waits for the outcome; never throws, since a failure is an outcome.
  ///
  /// - Parameters:
  ///   - mail: the mail.
  ///   - timeout: the time limit of the whole session.
  /// - Returns: the outcome.
  package func send(_ mail: MailMessage, timeout: TimeSpan) async -> DeliveryOutcome {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let promise = loop.makePromise(of: DeliveryOutcome.self)
    let limit = loop.scheduleTask(in: .nanoseconds(timeout.nanoseconds)) {
      promise.succeed(.failed(reason: "no answer within \(Int(timeout.seconds)) s", retryAfter: nil))
    }
    ClientBootstrap(group: loop)
      .connectTimeout(HTTPWebhookSender.connectTimeout)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(SMTPHandler(SMTPSession(mail), promise))
        }
      }
      .connect(host: place.host, port: Int(place.port))
      .whenComplete { result in
        switch result {
        case .success(let channel):
          promise.futureResult.whenComplete { _ in
            limit.cancel()
            channel.close(promise: nil)
          }
        case .failure(let error):
          limit.cancel()
          let reason = SendFailure.words(for: error, timeout: timeout)
          promise.succeed(.failed(reason: "mail relay \(place): \(reason)", retryAfter: nil))
        }
      }
    do {
      return try await promise.futureResult.get()
    } catch {
      return .failed(reason: "\(error)", retryAfter: nil)
    }
  }
}

/// The session of one connection.
private final class SMTPHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var session: SMTPSession
  private let promise: EventLoopPromise<DeliveryOutcome>

  init(_ session: SMTPSession, _ promise: EventLoopPromise<DeliveryOutcome>) {
    self.session = session
    self.promise = promise
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    for byte in unwrapInboundIn(data).readableBytesView {
      switch session.receive(byte) {
      case .wait: break
      case .send(let bytes): context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
      case .finish(let outcome, let closing):
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: closing)), promise: nil)
        promise.succeed(outcome)
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    promise.succeed(session.ended())
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.succeed(.failed(reason: SendFailure.words(for: error, timeout: .zero), retryAfter: nil))
    context.close(promise: nil)
  }
}
