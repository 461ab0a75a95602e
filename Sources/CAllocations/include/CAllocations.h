#pragma once

/// How often this process has asked for memory so far, all threads.
///
/// Linking this library puts its malloc and relatives before glibc's, to which they pass every call on.
unsigned long callocations_count(void);
