import FuzzBodies
import FuzzDriver

FuzzProgram.run(bodyTargets)
