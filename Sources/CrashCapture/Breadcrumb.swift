internal import CCrash

/// Remembers a state that the program reached, for the report of a crash: a bounded number of the latest, with their times.
///
/// Only texts of the program itself, so that no name, value or payload can get into a report. Any thread, without waiting.
public func leaveBreadcrumb(_ state: StaticString) {
    precondition(state.hasPointerRepresentation && state.isASCII, "a breadcrumb is a text of more than one ASCII letter")
    state.withUTF8Buffer { text in ccrash_state(UnsafeRawPointer(text.baseAddress)?.assumingMemoryBound(to: CChar.self)) }
}
