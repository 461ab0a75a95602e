import CFFmpeg

/// Pulls decoded pictures out of the video of one file or stream.
struct ClipDecoder: ~Copyable {
    /// One step of decoding.
    enum Step {
        /// ``frame`` holds a picture until the next step.
        case frame
        /// A picture was lost to broken data.
        case corrupt
        /// Nothing more comes.
        case end
    }

    private let container: ClipContainer
    private let codec: ClipCodec
    private var draining = false
    /// Set when the container cannot be read any further for another reason than its end.
    private(set) var readFailure: String?

    /// Opens the best video stream of a file.
    ///
    /// - Parameter threads: Threads of libavcodec; 0 lets it take one a core.
    init(path: String, threads: Int) throws(CameraError) {
        // A playlist in a file must not reach the network.
        let container = try ClipContainer(url: "file:" + path, name: path, options: ["protocol_whitelist": "file"])
        codec = try ClipCodec(path: path, stream: container.stream, threads: threads)
        self.container = container
    }

    /// Opens the video of a camera in the network, in a way that holds back as little as can be.
    ///
    /// - Parameter deadline: Ends every waiting, of this call and of later ones.
    init(_ address: StreamAddress, deadline: StreamDeadline) throws(CameraError) {
        let container = try ClipContainer(url: address.url, name: "\(address)", options: address.options, deadline: deadline)
        codec = try ClipCodec(path: "\(address)", stream: container.stream, threads: 1, isLive: true)
        self.container = container
    }

    /// The picture of the last ``Step/frame``.
    var frame: UnsafePointer<AVFrame> { UnsafePointer(codec.picture) }

    /// Presentation time of ``frame`` in seconds as stored, if it has one.
    var presentation: Double? {
        let timestamp = frame.pointee.best_effort_timestamp
        return timestamp == cffmpeg_no_timestamp ? nil : Double(timestamp) * av_q2d(container.stream.pointee.time_base)
    }

    /// Frames that the container's header announces; 0 where it says nothing.
    var announcedFrames: Int { Int(clamping: container.stream.pointee.nb_frames) }

    /// What the stream is, for ``FrameSource/format``.
    func format(path: String) -> SourceFormat {
        let context = codec.context.pointee
        return SourceFormat(
            path: path, name: container.name, codec: String(cString: avcodec_get_name(context.codec_id)),
            width: Int(context.width), height: Int(context.height), framesPerSecond: container.framesPerSecond,
            rotation: container.rotation)
    }

    /// Reads and decodes until one picture is there, one is lost, or all are done.
    mutating func step() -> Step {
        while true {
            let received = avcodec_receive_frame(codec.context, codec.picture)
            if received >= 0 {
                let broken = frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 || frame.pointee.decode_error_flags != 0
                return broken ? .corrupt : .frame
            }
            if received == cffmpeg_end_of_file { return .end }
            if received != cffmpeg_again { return draining ? .end : .corrupt }
            if !feed() { return .corrupt }
        }
    }

    /// Sends the next packet of the stream, or the end; false if a packet was lost.
    private mutating func feed() -> Bool {
        while true {
            let read = av_read_frame(container.context, codec.packet)
            if read == cffmpeg_again { continue }
            guard read >= 0 else {
                if read != cffmpeg_end_of_file { readFailure = ffmpegMessage(read) }
                draining = true
                avcodec_send_packet(codec.context, nil)
                return true
            }
            defer { av_packet_unref(codec.packet) }
            let packet = codec.packet.pointee
            // An empty packet means "the same picture again"; a decoder would take it for the end.
            guard packet.stream_index == container.streamIndex, packet.size > 0 else { continue }
            if packet.flags & AV_PKT_FLAG_CORRUPT != 0 || isCutShort(packet) { return false }
            return avcodec_send_packet(codec.context, codec.packet) >= 0
        }
    }
}

extension ClipDecoder {
    /// Whether a JPEG has no end, which libavcodec would fill up with gray: the last frame of a file that was cut off.
    private func isCutShort(_ packet: AVPacket) -> Bool {
        guard codec.context.pointee.codec_id == AV_CODEC_ID_MJPEG else { return false }
        return JPEGDecoder.picture(in: UnsafeRawBufferPointer(start: packet.data, count: Int(packet.size))) == nil
    }
}

/// Owns libavformat's open file and the choice of its video stream.
private struct ClipContainer: ~Copyable {
    let context: UnsafeMutablePointer<AVFormatContext>
    let streamIndex: Int32
    let stream: UnsafeMutablePointer<AVStream>

    /// Lives for as long as libavformat may ask it.
    private let deadline: StreamDeadline?

    /// - Parameter name: What errors call it.
    init(url: String, name: String, options wished: [String: String], deadline: StreamDeadline? = nil) throws(CameraError) {
        // Its messages would go to stderr unasked; what matters comes back as errors and counters.
        av_log_set_level(AV_LOG_QUIET)
        var options: OpaquePointer?
        for (key, value) in wished { av_dict_set(&options, key, value, 0) }
        defer { av_dict_free(&options) }
        var opened = avformat_alloc_context()
        if let deadline, let context = opened {
            context.pointee.interrupt_callback = AVIOInterruptCB(
                callback: { StreamDeadline.isOver($0) }, opaque: Unmanaged.passUnretained(deadline).toOpaque())
        }
        let code = avformat_open_input(&opened, url, nil, &options)
        guard code >= 0, let context = opened else {
            deadline?.isRefused = [cffmpeg_unauthorized, cffmpeg_forbidden].contains(code)
            throw .notAClip(path: name, reason: ffmpegMessage(code))
        }
        do {
            (streamIndex, stream) = try Self.videoStream(of: context, path: name)
        } catch {
            avformat_close_input(&opened)
            throw error
        }
        (self.context, self.deadline) = (context, deadline)
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&context)
    }

    private static func videoStream(
        of context: UnsafeMutablePointer<AVFormatContext>, path: String
    ) throws(CameraError) -> (Int32, UnsafeMutablePointer<AVStream>) {
        // libavformat draws any .txt file as a terminal's screen.
        if String(cString: context.pointee.iformat.pointee.name) == "tty" { throw .notAClip(path: path, reason: "text") }
        let code = avformat_find_stream_info(context, nil)
        guard code >= 0 else { throw .notAClip(path: path, reason: ffmpegMessage(code)) }
        let index = av_find_best_stream(context, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
        guard index >= 0, let stream = context.pointee.streams[Int(index)] else { throw .noVideo(path: path) }
        for other in 0..<Int(context.pointee.nb_streams) where other != Int(index) {
            context.pointee.streams[other]?.pointee.discard = AVDISCARD_ALL
        }
        return (index, stream)
    }

    var name: String { String(cString: context.pointee.iformat.pointee.name) }

    /// Frames a second, the average where the container knows it.
    var framesPerSecond: Double? {
        for rate in [stream.pointee.avg_frame_rate, stream.pointee.r_frame_rate] where rate.num > 0 && rate.den > 0 {
            return av_q2d(rate)
        }
        return nil
    }

    /// Degrees by which the picture must be turned clockwise to stand upright.
    var rotation: Int {
        guard let matrix = cffmpeg_display_matrix(stream) else { return 0 }
        let counterclockwise = av_display_rotation_get(matrix)
        guard counterclockwise.isFinite else { return 0 }
        let quarters = Int((-counterclockwise / 90).rounded())
        return (quarters % 4 + 4) % 4 * 90
    }
}

/// Owns libavcodec's decoder with its packet and picture.
private struct ClipCodec: ~Copyable {
    let context: UnsafeMutablePointer<AVCodecContext>
    let packet: UnsafeMutablePointer<AVPacket>
    let picture: UnsafeMutablePointer<AVFrame>

    /// An 8K picture; a header that asks for more is broken or hostile.
    private static let largestPicture: Int64 = 7680 * 4320

    /// - Parameter isLive: A picture is wanted as soon as its data are there.
    init(path: String, stream: UnsafeMutablePointer<AVStream>, threads: Int, isLive: Bool = false) throws(CameraError) {
        guard let parameters = stream.pointee.codecpar, let codec = avcodec_find_decoder(parameters.pointee.codec_id) else {
            let id = stream.pointee.codecpar?.pointee.codec_id ?? AV_CODEC_ID_NONE
            throw .unsupportedCodec(path: path, codec: String(cString: avcodec_get_name(id)))
        }
        guard let context = avcodec_alloc_context3(codec) else { fatalError("out of memory") }
        var code = avcodec_parameters_to_context(context, parameters)
        context.pointee.pkt_timebase = stream.pointee.time_base
        context.pointee.thread_count = Int32(clamping: threads)
        context.pointee.max_pixels = Self.largestPicture
        if isLive { context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY }
        if code >= 0 { code = avcodec_open2(context, codec, nil) }
        if code < 0 {
            var context: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&context)
            throw .notAClip(path: path, reason: ffmpegMessage(code))
        }
        guard let packet = av_packet_alloc(), let picture = av_frame_alloc() else { fatalError("out of memory") }
        (self.context, self.packet, self.picture) = (context, packet, picture)
    }

    deinit {
        var (context, packet, picture) = (Optional(context), Optional(packet), Optional(picture))
        av_frame_free(&picture)
        av_packet_free(&packet)
        avcodec_free_context(&context)
    }
}

/// FFmpeg's words for one of its error codes.
private func ffmpegMessage(_ code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        guard let base = buffer.baseAddress, av_strerror(code, base, buffer.count) == 0 else { return "error \(code)" }
        return String(cString: base)
    }
}
