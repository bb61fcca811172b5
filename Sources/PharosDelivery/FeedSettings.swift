/// The limits of live streams.
package struct FeedSettings: Hashable, Sendable {
  /// How many streams may be open at once.
  package var feeds = 2_048
  /// How many of them one client may have open: half, so that no token takes the streams of all others.
  package var feedsOfOneClient: Int { max(1, feeds / 2) }
  /// How many events may wait in all streams together; beyond, a stream that lags reads from the journal instead.
  ///
  /// Some 130 MB if every one of them were another event; usually most streams wait for the same ones.
  package var waiting = 65_536
  /// How many events are read from the journal at a time.
  package var page = 256
  /// After so long without anything else, a stream gives a heartbeat.
  ///
  /// Proxies and mobile networks cut connections that are silent for 30 s and more, and who watches a server wants to see within
  /// some seconds that it hangs.
  package var heartbeat: Duration = .seconds(5)
  /// How often it is looked whether readings or heartbeats are due.
  package var tick: Duration = .milliseconds(50)

  /// The usual limits.
  package init() {}
}

/// What live streams have done so far.
package struct FeedStatistics: Hashable, Sendable {
  /// Streams open now.
  package var open = 0
  /// Streams opened since the start.
  package var opened: UInt64 = 0
  /// Streams refused because too many were open.
  package var refused: UInt64 = 0
  /// Events handed to clients, each counted for each client.
  package var delivered: UInt64 = 0
  /// Events that are not in the journal and were not taken in time.
  package var dropped: UInt64 = 0
  /// How often a stream that could not keep up went back to the journal.
  package var fellBehind: UInt64 = 0
  /// Pages read from the journal.
  package var pages: UInt64 = 0
  /// Reads of the journal that failed, each of which ended a stream.
  package var failedReads: UInt64 = 0
  /// Events that wait in all streams together.
  package var waiting = 0

  /// Nothing done yet.
  package init() {}
}
