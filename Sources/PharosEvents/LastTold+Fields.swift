public import PharosReports

extension LastTold: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(regions)
    writer.write(zones)
    writer.write(observers)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    self.init()
    regions = try reader.list(RegionWord.self)
    zones = try reader.list(ZoneWord.self)
    observers = try reader.list(ObserverWord.self)
  }
}

extension LastTold.RegionWord: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    writer.write(application)
    writer.write(region)
    subject.write(to: &writer)
    writer.write(state.rawValue)
    writer.write(lastKnown.rawValue)
    writer.write(enteredAt)
    writer.write(refinement)
    writer.write(observer)
    time.write(to: &writer)
    decidedAt.write(to: &writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let application = try reader.text()
    let region = try reader.text()
    let subject = try SubjectID(from: &reader)
    let state = try reader.regionState()
    let lastKnown = try reader.regionState()
    let enteredAt = try reader.optional(Timestamp.self)
    let refinement = try reader.optional(BeaconID.self)
    let observer = try reader.optional(ObserverID.self)
    let time = try Timestamp(from: &reader)
    self.init(
      application: application,
      region: region,
      subject: subject,
      state: state,
      lastKnown: lastKnown,
      enteredAt: enteredAt,
      refinement: refinement,
      observer: observer,
      time: time,
      decidedAt: try Timestamp(from: &reader)
    )
  }
}

extension LastTold.ZoneWord: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    beacon.write(to: &writer)
    writer.write(zone)
    time.write(to: &writer)
    decidedAt.write(to: &writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let beacon = try BeaconID(from: &reader)
    let zone = try reader.optional(String.self)
    let time = try Timestamp(from: &reader)
    self.init(beacon: beacon, zone: zone, time: time, decidedAt: try Timestamp(from: &reader))
  }
}

extension LastTold.ObserverWord: FieldCodable {
  /// Writes the value.
  public func write(to writer: inout FieldWriter) {
    observer.write(to: &writer)
    writer.write(isUp)
    time.write(to: &writer)
    decidedAt.write(to: &writer)
  }

  /// Reads the value.
  public init(from reader: inout FieldReader) throws(FieldError) {
    let observer = try ObserverID(from: &reader)
    let isUp = try reader.flag()
    let time = try Timestamp(from: &reader)
    self.init(observer: observer, isUp: isUp, time: time, decidedAt: try Timestamp(from: &reader))
  }
}

extension FieldReader {
  fileprivate mutating func regionState() throws(FieldError) -> RegionState {
    let tag = try byte()
    guard let state = RegionState(rawValue: tag) else {
      throw failure(.unknownTag(field: "a region's state", tag: tag))
    }
    return state
  }
}
