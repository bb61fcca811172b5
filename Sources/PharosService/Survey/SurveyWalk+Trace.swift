import PharosCaptures
import PharosPlaces
import PharosPositioning
import PharosReports

extension SurveyWalk {
  /// A walk as a trace recorded it, on a floor whose plane is the trace's.
  init(_ trace: IndoorTrace, name: String, floor: FloorID) {
    self.init(
      name: name,
      floor: floor,
      waypoints: trace.waypoints.map { Waypoint(time: $0.time, point: Point(x: $0.x, y: $0.y)) },
      accessPoints: trace.accessPoints.compactMap { heard in
        heard.rssi.map { rssi in
          AccessPointReading(
            time: heard.time,
            heard: min(heard.lastHeard, heard.time),
            bssid: heard.bssid,
            rssi: rssi,
            frequency: heard.frequency
          )
        }
      },
      beacons: trace.beacons.compactMap { heard in
        heard.rssi.map { rssi in
          BeaconReading(time: heard.time, beacon: heard.beacon, address: heard.address, rssi: rssi)
        }
      },
      motion: trace.motion.map { read in
        let sample = MotionSample(kind: read.kind, age: .zero, x: read.x, y: read.y, z: read.z)
        return MotionReading(time: read.time, sample: sample)
      }
    )
  }
}
