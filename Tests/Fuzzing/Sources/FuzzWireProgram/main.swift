import FuzzDriver
import FuzzWire

FuzzProgram.run(wireTargets)
