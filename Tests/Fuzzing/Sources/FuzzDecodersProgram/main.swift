import FuzzDecoders
import FuzzDriver

FuzzProgram.run(decoderTargets)
