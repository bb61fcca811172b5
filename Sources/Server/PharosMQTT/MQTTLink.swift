package import PharosModel

/// A message to publish.
package struct MQTTMessage: Hashable, Sendable {
  /// The topic.
  package var topic: String
  /// The payload; an empty one removes what the broker has retained for the topic.
  package var payload: [UInt8]
  /// Indicates whether the broker keeps it for later subscribers.
  package var isRetained: Bool
  /// Indicates whether the broker acknowledges it (QoS 1).
  package var isAcknowledged: Bool

  /// Makes a message.
  package init(_ topic: String, _ payload: [UInt8], isRetained: Bool = true, isAcknowledged: Bool = true) {
    self.topic = topic
    self.payload = payload
    self.isRetained = isRetained
    self.isAcknowledged = isAcknowledged
  }

  /// Makes a message of text.
  package init(_ topic: String, text: String, isRetained: Bool = true) {
    self.init(topic, Array(text.utf8), isRetained: isRetained)
  }
}

/// The number by which a connection calls a message that it is publishing.
package typealias MQTTPacketID = Int32

/// A happening on a connection to a broker.
package enum MQTTLinkEvent: Hashable, Sendable {
  /// The broker has accepted the connection; its address, if it is known.
  case connected(peer: IPAddress?, port: UInt16)
  /// The connection is lost or could not be made; the link tries again.
  case disconnected(reason: String)
  /// The broker has acknowledged a message, or a message without acknowledgement was sent.
  case acknowledged(MQTTPacketID)
  /// A message arrived: its datagram, as `MQTTFormat` reads it, or its topic and payload.
  case message(topic: String, payload: [UInt8], isRetained: Bool)
}

/// A connection to a broker, which is made again whenever it is lost.
///
/// Each connection is a new session: what was subscribed to and what has not been acknowledged ends with it.
package protocol MQTTLink: Sendable {
  /// Begins to connect; called once.
  ///
  /// - Parameter receive: takes what happens, in order, on a thread of the link's own, which it should not block.
  func start(_ receive: @escaping @Sendable (MQTTLinkEvent) -> Void)
  /// Publishes a message; nil if the connection does not take it.
  func publish(_ message: MQTTMessage) -> MQTTPacketID?
  /// Subscribes to topic filters.
  func subscribe(_ filters: [String])
  /// Ends the subscription to topic filters.
  func unsubscribe(_ filters: [String])
  /// Disconnects in order and ends the link's thread; the broker does not publish the last will then.
  func stop()
}

/// The parameters of a connection.
package struct MQTTLinkSettings: Hashable, Sendable {
  /// The host of the broker.
  package var host: String
  /// Its port.
  package var port: UInt16
  /// The path of the certificates of trusted authorities; empty for those of the system, nil for no TLS.
  package var authorities: String?
  /// The name of the user.
  package var username: String?
  /// The password.
  package var password: String?
  /// The client identifier.
  package var clientID: String
  /// The message that the broker publishes when the connection breaks.
  package var will: MQTTMessage?

  /// Makes settings for a connection without TLS, credentials and last will.
  package init(host: String, port: UInt16, clientID: String) {
    self.host = host
    self.port = port
    self.clientID = clientID
  }
}
