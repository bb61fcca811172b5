package import PharosModel

/// A site with a little of everything that can be declared.
package enum SampleSite {
  package static let uuid = UUID128(high: 0xE2C5_6DB5_DFFB_48D2, low: 0xB060_D0F5_A710_96E0)
  package static let gateways: [ObserverID] = [
    .eui48(0xAC23_3FA0_0001), .eui48(0xAC23_3FA0_0002), .name("attic"),
  ]

  package static let site = Site(
    stream: "fuzz",
    applications: [
      Application(
        identifier: "gallery",
        regions: [
          Region(identifier: "any", constraint: .proximity(uuid)),
          Region(
            identifier: "tags",
            constraint: .proximity(uuid, major: 1),
            subject: .beacon(observers: [gateways[0], gateways[1]]),
            presence: PresencePolicy(silence: .fixed(.seconds(8)))
          ),
          Region(
            identifier: "one",
            constraint: .address(DeviceAddress(bits: 0xC4BE_84E7_EC3E, kind: .unknown))
          ),
        ],
        ranging: [RangingRequest(constraint: .proximity(uuid, major: 1))]
      ),
      Application(
        identifier: "depot",
        regions: [Region(identifier: "seven", constraint: .proximity(uuid, major: 1, minor: 3))],
        regionLimit: 3
      ),
    ],
    observers: [ObserverEntry(id: gateways[0], name: "front desk", rssiOffset: -2.5)],
    beacons: [BeaconEntry(constraint: .proximity(uuid, major: 1, minor: 7), name: "door")],
    zones: gateways.enumerated().map { Zone(identifier: "zone\($0.offset)", observers: [$0.element]) }
  )
}
