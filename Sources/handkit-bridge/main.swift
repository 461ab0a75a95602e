internal import Bridge
internal import CrashCapture
internal import Glibc
internal import Settings

CrashCapture.begin(program: "handkit-bridge", version: Product.version)
exit(await BridgeProgram.main(Array(CommandLine.arguments.dropFirst())))
