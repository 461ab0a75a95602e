#pragma once

/// Names the calling thread as `top -H` and debuggers show it. Linux keeps 15 bytes; longer names are cut.
void csystem_name_current_thread(const char *name);

/// Begins to receive signals: each arrives as one byte, its number, at the pipe end that is returned (close-on-exec, non-blocking).
///
/// The first is for the reader; the second ends the process with 128 + its number. One receiver at a time.
/// Returns -errno on failure, and then nothing has changed.
int csystem_signals_begin(const int *numbers, int count);

/// Gives the signals the actions back that they had, and closes both ends of the pipe.
void csystem_signals_end(void);
