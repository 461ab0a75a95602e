#pragma once

/// Names the calling thread as `top -H` and debuggers show it. Linux keeps 15 bytes; longer names are cut.
void csystem_name_current_thread(const char *name);
