package import PharosReports

/// Who a gateway is in the heads of its datagrams.
package struct GatewayIdentity: Hashable, Sendable {
  /// Who heard the adverts.
  package var observer: ObserverID
  /// A number that increases with each start of the gateway; see ``BootID``.
  package var bootID: UInt32
  /// The key that signs, or nil for datagrams without a tag.
  package var signingKeyID: UInt32?

  /// Makes an identity.
  package init(observer: ObserverID, bootID: UInt32, signingKeyID: UInt32? = nil) {
    self.observer = observer
    self.bootID = bootID
    self.signingKeyID = signingKeyID
  }
}
