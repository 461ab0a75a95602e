internal import CrashCapture
internal import Glibc
internal import Recognizer
internal import Settings

CrashCapture.begin(program: "handkit-recognizer", version: Product.version)
exit(await RecognizerProgram.main(Array(CommandLine.arguments.dropFirst())))
