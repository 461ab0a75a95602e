#pragma once

#include <stdint.h>

/// Names the calling thread as `top -H` and debuggers show it. Linux keeps 15 bytes; longer names are cut.
void csystem_name_current_thread(const char *name);

/// Begins to receive signals: each arrives as one byte, its number, at the pipe end that is returned (close-on-exec, non-blocking).
///
/// The first is for the reader; the second ends the process with 128 + its number. One receiver at a time.
/// Returns -errno on failure, and then nothing has changed.
int csystem_signals_begin(const int *numbers, int count);

/// Gives the signals the actions back that they had, and closes both ends of the pipe.
void csystem_signals_end(void);

/// Directions of a descriptor, to be combined.
enum { csystem_readable = 1, csystem_writable = 2 };

/// A descriptor at which something has happened; `directions` holds both where its connection ended.
struct csystem_ready {
    uint64_t mark;
    int directions;
};

/// Opens a set of descriptors to wait for (close-on-exec); -errno on failure.
int csystem_poller_open(void);

/// Sets for which directions a descriptor is watched; 0 takes it out. `former` is what was set before.
int csystem_poller_watch(int poller, int descriptor, int directions, int former, uint64_t mark);

/// Waits until something has happened, or for so many milliseconds, -1 for ever; the number of entries of `ready` that were filled.
int csystem_poller_wait(int poller, struct csystem_ready *ready, int capacity, int milliseconds);
