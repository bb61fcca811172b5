/// Connections to NATS servers by libnats, which are there if the package is built with the trait `NATS`.
package enum NATS {
  /// The sentence for an operator whose server was built without NATS; nil if it was built with it.
  package static var isMissing: String? {
    #if NATS
    nil
    #else
    "this pharos was built without NATS. Install libnats (on Debian: apt-get install libnats-dev) and build it with: "
      + "swift build --traits NATS"
    #endif
  }
}
