internal import CrashCapture
internal import Glibc
internal import Lamp
internal import Settings

CrashCapture.begin(program: "handkit-lamp", version: Product.version)
exit(await LampProgram.main(Array(CommandLine.arguments.dropFirst())))
