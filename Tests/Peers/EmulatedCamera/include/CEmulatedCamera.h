#pragma once
#include <stdint.h>

// A camera in a regular file: libv4l2 hands every call on such a file to plugin.c, which reads here what it shall do and notes what was done.
// The file holds this header, then buffers (mapped by whoever captures) and the frames' data.

#define EMULATED_CAMERA_MAGIC "HKCAMERA"

enum emulated_stamp {
    EMULATED_STAMP_NOW,       ///< CLOCK_MONOTONIC, as a driver should.
    EMULATED_STAMP_SAME,      ///< The previous frame's again.
    EMULATED_STAMP_BACKWARD,  ///< A second before the previous frame's.
    EMULATED_STAMP_WALL       ///< Of a clock that the driver does not name.
};

struct emulated_mode {
    uint32_t format, width, height;
    uint32_t rate;  ///< Frames a second; 0: the driver does not say.
};

struct emulated_frame {
    uint32_t offset, length;  ///< Its data in the file.
    uint32_t flags;           ///< Added to the buffer's.
    uint32_t sequence_step;   ///< 1 where no frame was lost.
    uint32_t stamp;           ///< enum emulated_stamp
};

/// A whole number that can be adjusted.
struct emulated_control {
    uint32_t id;
    char name[32];
    int32_t minimum, maximum, value;
};

struct emulated_camera {
    char magic[8];
    char card[32], bus[32];
    uint32_t control_count;
    struct emulated_control controls[4];
    uint32_t capabilities;
    uint32_t mode_count;
    struct emulated_mode modes[8];
    uint32_t frame_count;
    uint32_t is_looped;  ///< 0: frames are played once; then none comes any more.
    uint32_t pace;       ///< Frames a second; 0: as fast as they are taken.
    uint32_t is_unplugged;
    struct emulated_frame frames[128];
    uint32_t buffer_offset, buffer_size;
    uint32_t granted_rate;  ///< What VIDIOC_S_PARM grants; 0: it is not supported.
    uint32_t padding;       ///< Bytes added to each row.
    /// The ioctl (0: none) that fails with this errno after so many calls that succeed.
    uint64_t failing_request;
    int32_t failing_errno;
    uint32_t failing_after;

    // What was done.
    uint32_t opened, closed;
    uint32_t streaming;
    uint32_t enqueued, dequeued;
    uint32_t width, height, format;
};

/// Moves the calling thread, and only that, into a mount namespace where `folder` stands in the place of libv4l2's plugins.
///
/// The system's own folder is untouched. Returns 0, or -errno where this process may not do that (it takes CAP_SYS_ADMIN).
int emulated_camera_enter(const char *folder);
