import FuzzDriver
import FuzzSigning

FuzzProgram.run(signingTargets)
