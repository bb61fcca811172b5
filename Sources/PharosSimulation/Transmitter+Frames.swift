package import PharosAdvertising
package import PharosPlaces
package import PharosReports

extension Scene.Transmitter {
  /// Makes a transmitter from the frames that it advertises in turn.
  ///
  /// Its identity is that of the first frame that has one, otherwise its address.
  package init(
    name: String,
    frames: [Frame],
    address: DeviceAddress,
    path: Path,
    power: Double = -59,
    interval: TimeSpan,
    stillInterval: TimeSpan? = nil,
    stillAfter: TimeSpan = .seconds(5),
    bodyLoss: Double = 0,
    onAir: TimeWindow = .always
  ) {
    self.init(
      name: name,
      beacon: frames.lazy.compactMap(\.beacon).first ?? .address(address),
      payloads: frames.map(\.legacyPayload),
      measuredPower: frames.lazy.compactMap(\.measuredPower).first,
      address: address,
      path: path,
      power: power,
      interval: interval,
      stillInterval: stillInterval,
      stillAfter: stillAfter,
      bodyLoss: bodyLoss,
      onAir: onAir
    )
  }
}
