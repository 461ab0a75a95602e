#pragma once
#include <openvino/c/openvino.h>

/// Path of the OpenVINO C library this process is linked with, or NULL where the loader does not tell. Owned by the loader.
const char *covino_library_path(void);

/// Makes malloc serve all threads from one arena from now on, where it has arenas: models are compiled by a thread a core, each of which would
/// leave one of its own behind (6 MB on two cores).
void covino_share_arena(void);
