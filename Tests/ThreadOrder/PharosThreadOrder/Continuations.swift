import CThreadOrder

// A continuation that is resumed before its task has begun to wait for it: the library then lets the task go on without
// telling ThreadSanitizer that what was done before the resumption comes before what is done now. These two functions have
// the names of the library's and stand before it in the order of linking; they do what it does, and say so.

/// `withCheckedContinuation`, which no code calls by this name.
@_silgen_name("$ss23withCheckedContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5NeverOGXEtYalF")
public func orderedContinuation<T>(
  isolation: isolated (any Actor)?,
  function: String,
  _ body: (CheckedContinuation<T, Never>) -> Void
) async -> sending T {
  let value = await withUnsafeContinuation(isolation: isolation) { continuation in
    body(CheckedContinuation(continuation: continuation, function: function))
  }
  swift_order_go_on()
  return value
}

/// `withCheckedThrowingContinuation`, which no code calls by this name.
@_silgen_name(
  "$ss31withCheckedThrowingContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5Error_pGXEtYaKlF"
)
public func orderedThrowingContinuation<T>(
  isolation: isolated (any Actor)?,
  function: String,
  _ body: (CheckedContinuation<T, any Error>) -> Void
) async throws -> sending T {
  defer { swift_order_go_on() }
  return try await withUnsafeThrowingContinuation(isolation: isolation) { continuation in
    body(CheckedContinuation(continuation: continuation, function: function))
  }
}
