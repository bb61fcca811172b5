/// A function that lies behind a lock.
///
/// A `Mutex` of the bare function would wrap it anew each time it is locked: what is generic over a function keeps it in
/// another form than who calls it, and goes over and back by two thunks that nobody takes off again. A function that is read a
/// hundred times a second would be a chain of a million calls within two hours, all of which are kept and run. In a structure it
/// has one form.
struct Callback: Sendable {
  /// The function.
  let call: @Sendable () -> Void
}
