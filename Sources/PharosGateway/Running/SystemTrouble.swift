#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension LinkTrouble {
  /// What an error number of the system means for a gateway.
  init(errno code: Int32) {
    let reason = LinkTrouble.reason(code)
    switch code {
    case ECONNREFUSED: self = .refused
    // The last one: no address of one's own to send from, as before the network is up.
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL: self = .unreachable(reason: reason)
    default: self = .system(reason: reason)
    }
  }

  /// The system's own words, beginning as within a sentence.
  static func reason(_ code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    let words = String(cString: text)
    return words.prefix(1).lowercased() + words.dropFirst()
  }
}
