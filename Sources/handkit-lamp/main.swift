internal import Glibc
internal import Lamp

exit(await LampProgram.main(Array(CommandLine.arguments.dropFirst())))
