import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
import PharosReports

/// Descriptions of failed requests to a receiver, worded for the operators of both sides.
enum SendFailure {
  /// What went wrong.
  static func words(for error: any Error, timeout: TimeSpan) -> String {
    switch error {
    case let error as HTTPClientError: words(for: error, timeout: timeout)
    case let error as NIOConnectionError: words(for: error)
    case let error as IOError: words(for: error)
    case is CancellationError: "it was broken off"
    default:
      "\(type(of: error))".contains("SSL")
        ? "TLS failed: \(error). Check the receiver's certificate and that it speaks TLS" : "\(error)"
    }
  }

  private static func words(for error: HTTPClientError, timeout: TimeSpan) -> String {
    switch error {
    case .connectTimeout:
      "no connection within \(HTTPWebhookSender.connectTimeout.nanoseconds / 1_000_000_000) s"
    case .tlsHandshakeTimeout: "TLS was not agreed upon in time"
    case .deadlineExceeded, .readTimeout: "no answer within \(Int(timeout.seconds)) s"
    case .remoteConnectionClosed: "the receiver closed the connection without an answer"
    case .cancelled: "it was broken off"
    default: error.shortDescription
    }
  }

  private static func words(for error: NIOConnectionError) -> String {
    guard let failure = error.connectionErrors.first else {
      return "the name \(error.host) leads to no address"
    }
    return words(for: failure.error, timeout: .zero)
  }

  private static func words(for error: IOError) -> String {
    switch error.errnoCode {
    case ECONNREFUSED: "the connection was refused: nothing listens there"
    case ECONNRESET, EPIPE: "the receiver broke the connection off"
    case EHOSTUNREACH, ENETUNREACH: "there is no way to the receiver's network"
    case ETIMEDOUT: "the receiver does not answer"
    case let code: "the connection failed: \(String(cString: strerror(code)))"
    }
  }
}
