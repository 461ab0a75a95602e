// A libv4l2 plugin: plays the camera that an emulated camera's file describes.
#define _GNU_SOURCE
#include "include/CEmulatedCamera.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l-plugin.h>
#include <linux/videodev2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct device {
    struct emulated_camera *camera;
    size_t size;
    uint32_t buffer_count, next_frame, sequence;
    uint32_t queue[32], queue_length;
    uint64_t last_stamp;  // microseconds
    uint64_t due;         // microseconds, when the next frame is there
    uint32_t calls;       // of the failing request
};

static void *device_init(int fd) {
    struct stat status;
    char magic[8];
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return NULL;
    if (pread(fd, magic, sizeof magic, 0) != sizeof magic || memcmp(magic, EMULATED_CAMERA_MAGIC, sizeof magic) != 0) return NULL;
    struct device *device = calloc(1, sizeof *device);
    if (!device) return NULL;
    device->size = (size_t)status.st_size;
    device->camera = mmap(NULL, device->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (device->camera == MAP_FAILED) {
        free(device);
        return NULL;
    }
    device->camera->opened++;
    return device;
}

static void device_close(void *private) {
    struct device *device = private;
    device->camera->closed++;
    munmap(device->camera, device->size);
    free(device);
}

static int fail(int code) {
    errno = code;
    return -1;
}

static uint32_t bytes_per_line(const struct emulated_camera *camera, uint32_t format, uint32_t width) {
    switch (format) {
    case V4L2_PIX_FMT_YUYV: return width * 2 + camera->padding;
    case V4L2_PIX_FMT_NV12: case V4L2_PIX_FMT_YUV420: case V4L2_PIX_FMT_GREY: return width + camera->padding;
    default: return 0;
    }
}

// Grants the mode asked for, or the first, as a driver does.
static void adjust(struct emulated_camera *camera, struct v4l2_pix_format *pix) {
    const struct emulated_mode *granted = &camera->modes[0];
    for (uint32_t index = 0; index < camera->mode_count; index++) {
        const struct emulated_mode *mode = &camera->modes[index];
        if (mode->format == pix->pixelformat && mode->width == pix->width && mode->height == pix->height) granted = mode;
    }
    pix->width = granted->width;
    pix->height = granted->height;
    pix->pixelformat = granted->format;
    pix->field = V4L2_FIELD_NONE;
    pix->bytesperline = bytes_per_line(camera, granted->format, granted->width);
    pix->sizeimage = camera->buffer_size;
    pix->colorspace = pix->bytesperline ? V4L2_COLORSPACE_SRGB : V4L2_COLORSPACE_JPEG;
}

static int enumerate_formats(const struct emulated_camera *camera, struct v4l2_fmtdesc *description) {
    uint32_t seen = 0;
    for (uint32_t index = 0; index < camera->mode_count; index++) {
        int again = 0;
        for (uint32_t before = 0; before < index; before++) again |= camera->modes[before].format == camera->modes[index].format;
        if (again || seen++ != description->index) continue;
        description->pixelformat = camera->modes[index].format;
        description->flags = 0;
        return 0;
    }
    return fail(EINVAL);
}

static int enumerate_sizes(const struct emulated_camera *camera, struct v4l2_frmsizeenum *size) {
    uint32_t seen = 0;
    for (uint32_t index = 0; index < camera->mode_count; index++) {
        const struct emulated_mode *mode = &camera->modes[index];
        if (mode->format != size->pixel_format || seen++ != size->index) continue;
        size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        size->discrete.width = mode->width;
        size->discrete.height = mode->height;
        return 0;
    }
    return fail(EINVAL);
}

static int enumerate_intervals(const struct emulated_camera *camera, struct v4l2_frmivalenum *interval) {
    for (uint32_t index = 0; interval->index == 0 && index < camera->mode_count; index++) {
        const struct emulated_mode *mode = &camera->modes[index];
        if (mode->format != interval->pixel_format || mode->width != interval->width || mode->height != interval->height) continue;
        if (mode->rate == 0) continue;
        interval->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        interval->discrete = (struct v4l2_fract){1, mode->rate};
        return 0;
    }
    return fail(EINVAL);
}

static uint64_t microseconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void stamp(struct device *device, const struct emulated_frame *frame, struct v4l2_buffer *buffer) {
    uint64_t time = microseconds(frame->stamp == EMULATED_STAMP_WALL ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    if (frame->stamp == EMULATED_STAMP_SAME) time = device->last_stamp;
    if (frame->stamp == EMULATED_STAMP_BACKWARD) time = device->last_stamp - 1000000;
    device->last_stamp = time;
    buffer->timestamp.tv_sec = (time_t)(time / 1000000);
    buffer->timestamp.tv_usec = (suseconds_t)(time % 1000000);
    buffer->flags |= frame->stamp == EMULATED_STAMP_WALL ? V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN : V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
}

static int dequeue(struct device *device, struct v4l2_buffer *buffer) {
    struct emulated_camera *camera = device->camera;
    if (!camera->streaming) return fail(EINVAL);
    if (camera->is_looped && device->next_frame >= camera->frame_count) device->next_frame = 0;
    if (device->queue_length == 0 || device->next_frame >= camera->frame_count) return fail(EAGAIN);
    if (camera->pace) {
        uint64_t now = microseconds(CLOCK_MONOTONIC);
        if (now < device->due) return fail(EAGAIN);
        device->due = (device->due ? device->due : now) + 1000000 / camera->pace;
    }
    const struct emulated_frame *frame = &camera->frames[device->next_frame++];
    uint32_t index = device->queue[0];
    memmove(device->queue, device->queue + 1, --device->queue_length * sizeof *device->queue);
    uint32_t length = frame->length < camera->buffer_size ? frame->length : camera->buffer_size;
    memcpy((char *)camera + camera->buffer_offset + index * camera->buffer_size, (char *)camera + frame->offset, length);
    device->sequence += frame->sequence_step;
    buffer->index = index;
    buffer->bytesused = length;
    buffer->length = camera->buffer_size;
    buffer->m.offset = camera->buffer_offset + index * camera->buffer_size;
    buffer->sequence = device->sequence;
    buffer->field = V4L2_FIELD_NONE;
    buffer->flags = V4L2_BUF_FLAG_MAPPED | frame->flags;
    stamp(device, frame, buffer);
    camera->dequeued++;
    return 0;
}

static int query_control(const struct emulated_camera *camera, struct v4l2_queryctrl *query) {
    int next = (query->id & V4L2_CTRL_FLAG_NEXT_CTRL) != 0;
    uint32_t id = query->id & V4L2_CTRL_ID_MASK;
    for (uint32_t index = 0; index < camera->control_count; index++) {
        const struct emulated_control *control = &camera->controls[index];
        if (next ? control->id <= id : control->id != id) continue;
        memset(query, 0, sizeof *query);
        query->id = control->id;
        query->type = V4L2_CTRL_TYPE_INTEGER;
        memcpy(query->name, control->name, sizeof control->name);
        query->minimum = control->minimum;
        query->maximum = control->maximum;
        query->step = 1;
        return 0;
    }
    return fail(EINVAL);
}

static int control_value(struct emulated_camera *camera, unsigned long request, struct v4l2_control *value) {
    for (uint32_t index = 0; index < camera->control_count; index++) {
        struct emulated_control *control = &camera->controls[index];
        if (control->id != value->id) continue;
        if (request == VIDIOC_S_CTRL) control->value = value->value;
        value->value = control->value;
        return 0;
    }
    return fail(EINVAL);
}

static int device_ioctl(void *private, int fd, unsigned long request, void *argument) {
    (void)fd;
    struct device *device = private;
    struct emulated_camera *camera = device->camera;
    if (camera->is_unplugged) return fail(ENODEV);
    if (camera->failing_request == (uint32_t)request && device->calls++ >= camera->failing_after) return fail(camera->failing_errno);
    switch ((uint32_t)request) {
    case VIDIOC_QUERYCAP: {
        struct v4l2_capability *answer = argument;
        memset(answer, 0, sizeof *answer);
        strcpy((char *)answer->driver, "emulated");
        memcpy(answer->card, camera->card, sizeof camera->card);
        memcpy(answer->bus_info, camera->bus, sizeof camera->bus);
        answer->capabilities = V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_META_CAPTURE | V4L2_CAP_STREAMING | V4L2_CAP_DEVICE_CAPS;
        answer->device_caps = camera->capabilities;
        return 0;
    }
    case VIDIOC_ENUM_FMT: return enumerate_formats(camera, argument);
    case VIDIOC_ENUM_FRAMESIZES: return enumerate_sizes(camera, argument);
    case VIDIOC_ENUM_FRAMEINTERVALS: return enumerate_intervals(camera, argument);
    case VIDIOC_G_FMT:
    case VIDIOC_TRY_FMT:
    case VIDIOC_S_FMT: {
        struct v4l2_pix_format *pix = &((struct v4l2_format *)argument)->fmt.pix;
        if ((uint32_t)request == VIDIOC_G_FMT) {
            pix->width = camera->width;
            pix->height = camera->height;
            pix->pixelformat = camera->format;
        }
        adjust(camera, pix);
        if ((uint32_t)request == VIDIOC_S_FMT) {
            camera->width = pix->width;
            camera->height = pix->height;
            camera->format = pix->pixelformat;
        }
        return 0;
    }
    case VIDIOC_S_PARM:
    case VIDIOC_G_PARM: {
        struct v4l2_streamparm *parameters = argument;
        if (camera->granted_rate == 0) return fail(ENOTTY);
        parameters->parm.capture.timeperframe = (struct v4l2_fract){1, camera->granted_rate};
        return 0;
    }
    case VIDIOC_REQBUFS: {
        struct v4l2_requestbuffers *buffers = argument;
        if (buffers->count > 8) buffers->count = 8;
        device->buffer_count = buffers->count;
        device->queue_length = 0;
        return 0;
    }
    case VIDIOC_QUERYBUF: {
        struct v4l2_buffer *buffer = argument;
        if (buffer->index >= device->buffer_count) return fail(EINVAL);
        buffer->length = camera->buffer_size;
        buffer->m.offset = camera->buffer_offset + buffer->index * camera->buffer_size;
        return 0;
    }
    case VIDIOC_QBUF: {
        struct v4l2_buffer *buffer = argument;
        if (buffer->index >= device->buffer_count || device->queue_length >= 32) return fail(EINVAL);
        device->queue[device->queue_length++] = buffer->index;
        camera->enqueued++;
        return 0;
    }
    case VIDIOC_QUERYCTRL: return query_control(camera, argument);
    case VIDIOC_G_CTRL:
    case VIDIOC_S_CTRL: return control_value(camera, (uint32_t)request, argument);
    case VIDIOC_DQBUF: return dequeue(device, argument);
    case VIDIOC_STREAMON:
        camera->streaming = 1;
        return 0;
    case VIDIOC_STREAMOFF:
        camera->streaming = 0;
        return 0;
    default: return fail(ENOTTY);
    }
}

// For those who write the file in another language: whether they see the same header.
const uint32_t emulated_camera_size = sizeof(struct emulated_camera);

const struct libv4l_dev_ops libv4l2_plugin = {.init = device_init, .close = device_close, .ioctl = device_ioctl};
