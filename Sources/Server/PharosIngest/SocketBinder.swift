import CPharos
import Logging
import NIOCore
import NIOPosix
import PharosCaptures
import PharosModel

/// Opens the sockets of the listeners and gives them to the loops.
struct SocketBinder {
  let loops: [NIOLoopBound<ReadingLoop>]
  let configuration: IngestConfiguration
  let logger: Logger

  /// Opens all sockets.
  ///
  /// An address has a socket on each loop, among which the kernel spreads the observers, or, if it cannot distinguish
  /// them, the senders; a multicast listener or a socket from elsewhere is read by one loop.
  ///
  /// - Throws: ``IngestError``.
  func bindAll() async throws -> [SocketStatus] {
    var sockets: [InstalledSocket] = []
    for (position, listener) in configuration.listeners.enumerated() {
      let single = loops[position % loops.count]
      switch listener.socket {
      case .descriptor(let descriptor):
        guard pharos_datagram_socket_version(descriptor) > 0 else {
          throw IngestError.notADatagramSocket(descriptor: descriptor)
        }
        sockets.append(try await adopt(descriptor, listener, on: single))
      case .bind(let host, let port):
        let address = try resolve(ListenAddress.boundHost(of: host), port, listener)
        let readers = listener.multicastGroups.isEmpty ? loops : [single]
        sockets += try await bind(address, listener, on: readers)
      }
    }
    steer(sockets)
    return sockets.map(\.status)
  }

  /// A socket that its loop reads.
  private struct InstalledSocket {
    let status: SocketStatus
    let descriptor: CInt
  }

  /// Has the kernel give each observer's datagrams to the loop that decides about it, at every address that has a
  /// socket on each loop; passed descriptors are assumed to have been bound in the order in which they are given.
  private func steer(_ sockets: [InstalledSocket]) {
    guard loops.count > 1 else { return }
    for (address, group) in Dictionary(grouping: sockets, by: \.status.address) {
      guard let first = group.first, group.map(\.status.loop) == Array(loops.indices) else { continue }
      let outcome = pharos_steer_by_observer(
        first.descriptor,
        UInt32(loops.count),
        ObserverID.cellFactors,
        UInt32(ObserverID.cellBits)
      )
      guard outcome < 0 else { continue }
      logger.info(
        "The kernel cannot steer datagrams by observer. It distributes them by sender, and loops forward those of other loops.",
        metadata: [
          LogKey.listener: "\(address)", LogKey.reason: "\(IngestError.Reason.system(errno: -outcome))",
        ]
      )
    }
  }

  private func resolve(_ host: String, _ port: Int, _ listener: ListenAddress) throws -> SocketAddress {
    if let address = try? SocketAddress(ipAddress: host, port: port) { return address }
    do {
      return try SocketAddress.makeAddressResolvingHost(host, port: port)
    } catch {
      throw IngestError.unknownHost(listener, detail: "\(error)")
    }
  }

  private func adopt(
    _ descriptor: Int32,
    _ listener: ListenAddress,
    on loop: NIOLoopBound<ReadingLoop>
  ) async throws -> InstalledSocket {
    let channel = try await translating(listener) {
      try await bootstrap(on: loop, isShared: false).withBoundSocket(descriptor).get()
    }
    return try await install(channel, listener, on: loop, isFirst: true)
  }

  private func bind(
    _ wanted: SocketAddress,
    _ listener: ListenAddress,
    on readers: [NIOLoopBound<ReadingLoop>]
  ) async throws -> [InstalledSocket] {
    let isShared = readers.count > 1
    var address = wanted
    if isShared { try probe(address, listener) }
    var sockets: [InstalledSocket] = []
    for loop in readers {
      let target = address
      let channel = try await translating(listener) {
        try await bootstrap(on: loop, isShared: isShared).bind(to: target).get()
      }
      try await join(listener, channel)
      sockets.append(try await install(channel, listener, on: loop, isFirst: sockets.isEmpty))
      // With port 0 the first socket chooses, and the others share its choice.
      if let bound = channel.localAddress { address = bound }
    }
    return sockets
  }

  /// Checks whether another process holds the port: sockets that share theirs would be let in beside another server of
  /// the same user, and the two would take each other's datagrams.
  private func probe(_ address: SocketAddress, _ listener: ListenAddress) throws(IngestError) {
    guard address.port != 0 else { return }
    var system = address.withSockAddr { pharos_address_of($0, $1) }
    let outcome = pharos_probe_bind(&system)
    guard outcome >= 0 else { throw .cannotListen(listener, reason: IngestError.Reason(errno: -outcome)) }
  }

  private func bootstrap(on loop: NIOLoopBound<ReadingLoop>, isShared: Bool) -> DatagramBootstrap {
    // One byte more than the largest datagram shows that one was longer: NIO does not report it.
    let allocator = FixedSizeRecvByteBufferAllocator(capacity: configuration.largestDatagram + 1)
    let bootstrap = DatagramBootstrap(group: loop.eventLoop)
      .channelOption(.autoRead, value: false)
      .channelOption(.maxMessagesPerRead, value: 1)
      .channelOption(.recvAllocator, value: allocator)
    guard isShared else { return bootstrap }
    return bootstrap.channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        _ = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
          pharos_set_reuse_port($0)
        }
      }
    }
  }

  private func join(_ listener: ListenAddress, _ channel: any Channel) async throws {
    for group in listener.multicastGroups {
      do {
        let address = try SocketAddress(ipAddress: group, port: channel.localAddress?.port ?? 0)
        guard let multicast = channel as? any MulticastChannel else { continue }
        try await multicast.joinGroup(address).get()
      } catch {
        throw IngestError.cannotJoin(group: group, listener, detail: "\(error)")
      }
    }
  }

  /// Gives a bound socket to its loop and begins to read.
  private func install(
    _ channel: any Channel,
    _ listener: ListenAddress,
    on loop: NIOLoopBound<ReadingLoop>,
    isFirst: Bool
  ) async throws -> InstalledSocket {
    let asked = configuration.receiveBuffer
    let socket = try await channel.eventLoop.submit {
      let facts = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
        of: NIOBSDSocket.Handle.self
      ) { descriptor in
        _ = pharos_set_receive_buffer(descriptor, Int32(clamping: asked))
        var address = pharos_address()
        _ = pharos_local_address(descriptor, &address)
        let buffer = Int(max(0, pharos_receive_buffer(descriptor)))
        return (descriptor: descriptor, address: Endpoint(address), buffer: buffer)
      }
      let (descriptor, address, buffer) = facts ?? (-1, Endpoint.none, 0)
      let reader = Listener(
        channel: channel,
        descriptor: descriptor,
        localAddress: address,
        receiveBuffer: buffer,
        policy: listener.policy
      )
      try channel.pipeline.syncOperations.addHandler(DrainHandler(loop: loop.value, listener: reader))
      loop.value.listeners.append(reader)
      try channel.syncOptions?.setOption(.autoRead, value: true)
      let status = SocketStatus(address: address, loop: loop.value.index, receiveBuffer: buffer)
      return InstalledSocket(status: status, descriptor: descriptor)
    }.get()
    if isFirst, socket.status.receiveBuffer < asked { warn(socket.status, asked: asked) }
    return socket
  }

  private func warn(_ status: SocketStatus, asked: Int) {
    logger.warning(
      "The kernel granted a smaller receive buffer than requested. Bursts may be dropped.",
      metadata: [
        LogKey.listener: "\(status.address)",
        LogKey.asked: "\(asked)",
        LogKey.granted: "\(status.receiveBuffer)",
        LogKey.command: "sudo sysctl -w net.core.rmem_max=\(asked)",
      ]
    )
  }

  /// Translates a system error into an ``IngestError``.
  private func translating<Result>(
    _ listener: ListenAddress,
    _ body: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await body()
    } catch let error as IOError {
      throw IngestError.cannotListen(listener, reason: IngestError.Reason(errno: error.errnoCode))
    }
  }
}
