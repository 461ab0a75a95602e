internal import Glibc
internal import Recognizer

exit(await RecognizerProgram.main(Array(CommandLine.arguments.dropFirst())))
