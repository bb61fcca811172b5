import PharosDocuments

// The parameters of live streams of fixes.

extension Operation.Parameter {
  /// The distance within which fixes are kept back.
  static let distanceFilter = query(
    "distanceFilter",
    .number(LocationLimits.distances),
    """
    For live streams: metres from the last fix of a subject within which none follows, as Core Location has \
    it; one on another floor follows at any distance.
    """
  )

  /// The accuracy that is desired.
  static let desiredAccuracy = query(
    "desiredAccuracy",
    .number(LocationLimits.distances),
    "For live streams, metres: a fix with a larger radius is kept back for 10 s after the last one of the subject."
  )

  /// The ticket of a live stream.
  static let streamTicket = query(
    "ticket",
    .name,
    "For live streams of pages: a ticket from POST /v1/tickets, in place of a token."
  )
}

extension QueryReading {
  /// Reads the distance within which fixes are kept back, in metres.
  mutating func distanceFilter() -> Double? { number("distanceFilter", in: LocationLimits.distances) }

  /// Reads the accuracy that is desired, in metres.
  mutating func desiredAccuracy() -> Double? { number("desiredAccuracy", in: LocationLimits.distances) }
}

/// The bounds of the parameters of fixes.
private enum LocationLimits {
  /// The distances in metres, up to half the way around the Earth.
  static let distances = 0.0...20_000_000
}
