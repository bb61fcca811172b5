import FuzzDriver
import FuzzBodies

FuzzProgram.run(bodyTargets)
