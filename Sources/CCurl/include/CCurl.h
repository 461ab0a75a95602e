#pragma once

#include <stddef.h>

/// Headers of a response that the caller asks for; values are cut at the size of the buffers, empty where there was none.
struct ccurl_response {
    /// Of HTTP; 0 where there was no answer.
    long status;
    char retry_after[128];
    char rate_limits[1024];
    /// Why there was no answer, for a person to read.
    char error[256];
};

/// Sends one POST and waits for the answer; blocks for `seconds` at most. No proxy, no redirect, no cookie; TLS is always verified.
///
/// libcurl is loaded at the first call, so that a program that never sends carries none of it. Thread-safe.
/// `headers` are lines such as `Name: value`; `authorities` a PEM file to trust, or null for the system's.
/// Returns 0 when there was an answer of any status, 1 when there was none, 2 when libcurl is not there.
int ccurl_post(
    const char *url, const char *const *headers, int header_count, const void *body, size_t length, const char *authorities, long seconds,
    struct ccurl_response *response);
