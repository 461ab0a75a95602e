#pragma once

enum { most_message = 512 };

/// What an uncaught exception said, cut; empty where there was none.
extern char ccrash_exception[most_message];
