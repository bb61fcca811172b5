import PharosIngest
import PharosSite

extension ListenAddress {
  /// The address of a command line or site file.
  init(_ address: HostPort) { self.init(address, policy: .open) }

  /// The address of a command line or site file, with whose datagrams are taken there.
  init(_ address: HostPort, policy: ListenPolicy) {
    self.init(host: address.host, port: Int(address.port), policy: policy)
  }

  /// The same place with another policy.
  func under(_ policy: ListenPolicy) -> ListenAddress {
    var address = self
    address.policy = policy
    return address
  }
}
