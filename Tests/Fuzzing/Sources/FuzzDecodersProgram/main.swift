import FuzzDriver
import FuzzDecoders

FuzzProgram.run(decoderTargets)
