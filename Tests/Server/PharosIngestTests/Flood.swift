import Foundation
import PharosCaptures
import PharosIngest
import PharosModel

/// A sender as fast as a thread can be, until the listener is closed.
enum Flood {
  /// How many datagrams were sent.
  static func send(to address: Endpoint) async -> UInt64 {
    await withCheckedContinuation { continuation in
      Thread {
        var sent: UInt64 = 0
        if let sender = try? DatagramSender(to: address) {
          let datagram = Samples.raddec(observer: 1, minor: 1)
          // The loopback interface tells a sender when the receiver's socket is closed.
          while let isAccepted = try? sender.send(datagram) {
            sent += isAccepted ? 1 : 0
          }
        }
        continuation.resume(returning: sent)
      }
      .start()
    }
  }
}
