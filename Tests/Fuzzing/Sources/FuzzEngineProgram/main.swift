import FuzzDriver
import FuzzEngine

FuzzProgram.run(engineTargets)
