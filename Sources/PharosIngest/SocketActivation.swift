import CPharos

/// The sockets that systemd opened for this process.
///
/// They let a service start at its first datagram, keep the datagrams that arrive during a restart in the socket's
/// buffer, and listen at a low port without privilege.
///
/// - Source: sd_listen_fds(3): `LISTEN_PID` names the process that is meant, `LISTEN_FDS` how many descriptors it
///   has, the first of which is 3.
package enum SocketActivation {
  /// The first descriptor that systemd passes.
  package static let firstDescriptor: Int32 = 3

  /// What there is to listen at, empty if the process was not started for sockets.
  ///
  /// - Parameters:
  ///   - environment: the environment of the process.
  ///   - processID: the process; another one's variables, inherited, mean nothing.
  ///   - firstDescriptor: the first descriptor.
  /// - Returns: a listener for each UDP socket that was passed.
  package static func listeners(
    environment: [String: String],
    processID: Int32,
    firstDescriptor: Int32 = SocketActivation.firstDescriptor
  ) -> [ListenAddress] {
    guard let named = environment["LISTEN_PID"].flatMap({ Int32($0) }), named == processID else { return [] }
    guard let count = environment["LISTEN_FDS"].flatMap({ Int32($0) }), count > 0, count <= 1_024 else {
      return []
    }
    return (firstDescriptor..<firstDescriptor + count)
      .filter { descriptor in
        // A unit may pass other sockets too, as for HTTP; those are not ours.
        guard pharos_datagram_socket_version(descriptor) > 0 else { return false }
        // systemd leaves the flag to the service: programs that it starts are not to inherit the socket.
        _ = pharos_set_close_on_exec(descriptor)
        return true
      }
      .map { ListenAddress(descriptor: $0) }
  }
}
