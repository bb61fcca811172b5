package import PharosIngest
import PharosSite

extension ListenAddress {
  /// The address of a command line or site file.
  package init(_ address: HostPort) { self.init(address, policy: .open) }

  /// The address of a command line or site file, with whose datagrams are taken there.
  package init(_ address: HostPort, policy: ListenPolicy) {
    self.init(host: address.host, port: Int(address.port), policy: policy)
  }

  /// The same place with another policy.
  package func under(_ policy: ListenPolicy) -> ListenAddress {
    var address = self
    address.policy = policy
    return address
  }
}
