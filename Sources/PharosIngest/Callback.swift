/// A function that is stored behind a lock.
///
/// A `Mutex` of the bare function type would wrap the function again each time it is locked: generic code stores a
/// function in another representation than its caller uses, and each access converts it there and back with two thunks
/// that are never removed. A function that is read a hundred times a second would become a chain of a million calls
/// within two hours, all of which are kept and executed. Inside a structure, a function has only one representation.
struct Callback: Sendable {
  /// The function.
  let call: @Sendable () -> Void
}
