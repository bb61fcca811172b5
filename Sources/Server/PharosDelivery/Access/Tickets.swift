package import PharosModel
import Synchronization

/// Short-lived tickets, each of which opens one live stream for a client that cannot send a token in a header.
///
/// `EventSource` of browsers sends no header of the page's choice, and a token in an address would stand in the logs of
/// proxies and in the browser's history. A ticket in an address is worthless after its first use or half a minute. It is
/// bound to the principal whose token asked for it and ends with that token. Only the SHA-256 of tickets is in memory, and
/// no ticket outlives the process.
package final class Tickets: Sendable {
  /// The time in which a ticket can be used.
  ///
  /// 30 s: a page asks for a ticket and opens the stream at once; a mobile network may take some seconds for each.
  package static let lifetime = TimeSpan.seconds(30)
  /// The maximum number of unused tickets of one client; as many as its live streams.
  package static let maximumOfClient = 64
  /// The maximum number of unused tickets.
  package static let maximumCount = 4_096

  private struct Ticket {
    let principal: Principal
    let expiresAt: TimeSpan
  }

  private let tickets = Mutex<[[UInt8]: Ticket]>([:])

  /// Makes a store without tickets.
  package init() {}

  /// Issues a ticket.
  ///
  /// - Parameters:
  ///   - principal: the client that asks.
  ///   - now: the steady time.
  /// - Returns: the secret, which is not kept; nil if the client, or all together, hold as many as they may.
  package func issue(to principal: Principal, at now: TimeSpan) -> String? {
    let secret = Secret.randomTicket()
    let isIssued = tickets.withLock { tickets in
      tickets = tickets.filter { now < $0.value.expiresAt }
      let own = tickets.values.count { $0.principal.client == principal.client }
      guard own < Tickets.maximumOfClient, tickets.count < Tickets.maximumCount else { return false }
      tickets[Secret.digest(of: secret)] = Ticket(principal: principal, expiresAt: now + Tickets.lifetime)
      return true
    }
    return isIssued ? secret : nil
  }

  /// Takes a ticket and returns the principal that it was issued to; nil if it is not known, was used or has expired.
  package func redeem(_ secret: String, at now: TimeSpan) -> Principal? {
    guard secret.hasPrefix(Secret.ticketPrefix), secret.utf8.count <= Secret.maximumLength else { return nil }
    let digest = Secret.digest(of: secret)
    // A look-up by the digest shows nothing about the secret, whatever time it takes.
    let ticket = tickets.withLock { $0.removeValue(forKey: digest) }
    guard let ticket, now < ticket.expiresAt else { return nil }
    return ticket.principal
  }

  /// Ends the tickets of principals whose tokens were revoked.
  func revoke(of principals: Set<Principal>) {
    tickets.withLock { tickets in tickets = tickets.filter { !principals.contains($0.value.principal) } }
  }
}
