#pragma once
#include <linux/videodev2.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/sysmacros.h>

// Every function returns -errno on failure and begins again where a signal interrupted it.

/// Opens a device through libv4l2, not inherited by child processes, without waiting on reads; returns the descriptor.
int cv4l2_open(const char *path);
void cv4l2_close(int fd);
int cv4l2_ioctl(int fd, unsigned long request, void *argument);
/// Waits until a frame may be there: 1, or 0 when the time is over.
int cv4l2_wait(int fd, int timeout_milliseconds);
/// Maps a buffer for reading.
int cv4l2_map(int fd, size_t length, uint32_t offset, void **memory);
void cv4l2_unmap(void *memory, size_t length);

static inline unsigned cv4l2_major(unsigned long device) { return major(device); }
static inline unsigned cv4l2_minor(unsigned long device) { return minor(device); }

// Macros that Swift does not import.
static const unsigned long cv4l2_querycap = VIDIOC_QUERYCAP;
static const unsigned long cv4l2_enum_fmt = VIDIOC_ENUM_FMT;
static const unsigned long cv4l2_enum_framesizes = VIDIOC_ENUM_FRAMESIZES;
static const unsigned long cv4l2_enum_frameintervals = VIDIOC_ENUM_FRAMEINTERVALS;
static const unsigned long cv4l2_s_fmt = VIDIOC_S_FMT;
static const unsigned long cv4l2_s_parm = VIDIOC_S_PARM;
static const unsigned long cv4l2_queryctrl = VIDIOC_QUERYCTRL;
static const unsigned long cv4l2_querymenu = VIDIOC_QUERYMENU;
static const unsigned long cv4l2_g_ctrl = VIDIOC_G_CTRL;
static const unsigned long cv4l2_s_ctrl = VIDIOC_S_CTRL;
static const unsigned long cv4l2_reqbufs = VIDIOC_REQBUFS;
static const unsigned long cv4l2_querybuf = VIDIOC_QUERYBUF;
static const unsigned long cv4l2_qbuf = VIDIOC_QBUF;
static const unsigned long cv4l2_dqbuf = VIDIOC_DQBUF;
static const unsigned long cv4l2_streamon = VIDIOC_STREAMON;
static const unsigned long cv4l2_streamoff = VIDIOC_STREAMOFF;
