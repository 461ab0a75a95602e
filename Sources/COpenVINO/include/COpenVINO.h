#pragma once
#include <openvino/c/openvino.h>

/// Path of the OpenVINO C library this process is linked with, or NULL where the loader does not tell. Owned by the loader.
const char *covino_library_path(void);
