internal import Bridge
internal import Glibc

exit(await BridgeProgram.main(Array(CommandLine.arguments.dropFirst())))
