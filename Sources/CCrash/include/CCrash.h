#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Begins to watch for the signals of a crash: SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT and SIGFPE, and for uncaught C++ exceptions.
///
/// When one comes the record is written to `descriptor`, which stays this library's, and then whoever handled the signal before has its
/// turn; where that is nobody the process ends by the signal. To be called once, on the main thread.
///
/// The record is text: lines of a key, a space and a value. A line feed in a value is written as backslash and n, a backslash as two.
/// `header` is written first, as it is.
void ccrash_install(int descriptor, const char *header);

/// Sets space aside for `descriptor` without making it longer. Returns 0, or an errno: ENOSPC where there is no space.
int ccrash_reserve(int descriptor, int64_t bytes);

/// Remembers a state that was reached; the latest `ccrash_state_capacity` go into the record. Any thread; `state` must live for ever.
void ccrash_state(const char *state);

enum { ccrash_state_capacity = 32 };

/// How often `ccrash_state` was called.
uint32_t ccrash_state_count(void);

/// Copies the build id of the running program in hexadecimal, at most `size - 1` characters; empty where the linker gave it none.
void ccrash_build_id(char *buffer, int size);

/// Writes what a mangled name of Swift or C++ stands for, cut to `size - 1` characters; false where it is no such name.
bool ccrash_demangle(const char *mangled, char *buffer, size_t size);

/// Gives the calling thread the least room for signals that a library might, for ever.
void ccrash_take_room(void);

/// Ends the process by an exception of C++ that nobody catches.
void ccrash_throw(const char *what);

#ifdef __cplusplus
}
#endif
