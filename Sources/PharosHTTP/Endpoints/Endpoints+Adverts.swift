import NIOCore
import Pharos
import PharosCaptures
import PharosIngest
import PharosReports
import PharosWire

extension Endpoints {
  var advertRoutes: [Route] {
    [
      Route(.post, "/v1/adverts", access: .operation, body: .datagram) { request in
        try await receive(request)
      }
    ]
  }

  /// Takes a body as a datagram that came from the client's address.
  private func receive(_ request: APIRequest) async throws -> APIAnswer {
    guard !request.body.isEmpty else {
      throw Problem.badRequest(
        "The body is empty; send a datagram of any format that Pharos knows."
      )
    }
    guard request.body.count <= Endpoints.largestDatagram else {
      throw Problem.tooLarge(limit: Endpoints.largestDatagram)
    }
    let (format, reports) = try await take(request.body, request)
    return .json(status: 202) { json in
      json.openObject()
      json.member("reports", reports)
      json.member("format", format.name)
      json.closeObject()
    }
  }

  /// Hands a datagram to the engine as one that came from the client's address.
  ///
  /// - Throws: why it was refused.
  func take(
    _ datagram: [UInt8],
    _ request: APIRequest
  ) async throws -> (
    format: WireFormat, reports: Int
  ) {
    switch try await backend.server.receive(datagram, from: request.source) {
    case .accepted(let format, let reports): return (format, reports)
    case .refused(let reason):
      throw Problem(
        reason.name,
        "The datagram was refused",
        status: 400,
        detail: reason.description
      )
    }
  }

  /// The longest body that is taken as a datagram.
  ///
  /// - Units: bytes; as long as a UDP datagram can be.
  private static let largestDatagram = 65_507
}

extension APIRequest {
  /// Where the request came from; the unspecified address where that is not known.
  fileprivate var source: Endpoint {
    let address = peer?.ipAddress.flatMap { IPAddress($0) } ?? IPAddress(v4: 0)
    return Endpoint(address, port: UInt16(clamping: peer?.port ?? 0))
  }
}
