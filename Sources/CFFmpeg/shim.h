#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>

// Macros that Swift does not import.
static const int cffmpeg_end_of_file = AVERROR_EOF;
static const int cffmpeg_again = AVERROR(EAGAIN);
static const int cffmpeg_unauthorized = AVERROR_HTTP_UNAUTHORIZED;
static const int cffmpeg_forbidden = AVERROR_HTTP_FORBIDDEN;
static const int64_t cffmpeg_no_timestamp = AV_NOPTS_VALUE;

/// The nine numbers of the stream's display matrix, NULL where it has none.
static inline const int32_t *cffmpeg_display_matrix(const AVStream *stream) {
#if LIBAVFORMAT_VERSION_MAJOR >= 61
    const AVPacketSideData *data = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    return data && data->size >= 9 * sizeof(int32_t) ? (const int32_t *)data->data : NULL;
#else
    size_t size = 0;
    const uint8_t *data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
    return data && size >= 9 * sizeof(int32_t) ? (const int32_t *)data : NULL;
#endif
}
