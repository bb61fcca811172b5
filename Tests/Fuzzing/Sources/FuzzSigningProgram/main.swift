import FuzzSupport

@testable import FuzzSigning

FuzzProgram.run([SigningTarget.self])
