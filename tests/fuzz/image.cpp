// Fuzzes the reader of pictures (README.md says how): any bytes are decoded, or refused.
#include "../../common/image.h"

// Makes the check sums of a PNG file right, so that what is changed inside reaches the decoder.
static void mend_check_sums(lab::ImageBytes& bytes) {
    if (!lab::begins_with(bytes, "\x89PNG")) return;
    for (size_t at = 8; at + 12 <= bytes.size();) {
        const size_t length = lab::big_endian(bytes, at, 4);
        if (length > bytes.size() - at - 12) return;
        const uint32_t sum = lab::crc32(&bytes[at + 4], length + 4);
        for (size_t i = 0; i < 4; ++i) bytes[at + 8 + length + i] = uint8_t(sum >> (24 - 8 * i));
        at += 12 + length;
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 2) return 0;
    const int channels = data[0] % 5;  // the first byte is not of the file
    lab::ImageBytes bytes(data + 1, data + size);
    mend_check_sums(bytes);
    int width = 0, height = 0, stored = 0;  // a large picture takes a second, and shows no more
    if (size % 256 != 0 &&
        stbi_info_from_memory(&bytes[0], int(size - 1), &width, &height, &stored) &&
        int64_t(width) * height > 1 << 16) {
        return 0;
    }
    volatile uint64_t sum = 0;
    try {
        const lab::Image image = lab::decode_image(bytes, "fuzzed", channels);
        if (image.count() != int64_t(image.pixels.size())) std::abort();
        if (channels != 0 && image.channels != channels) std::abort();
        for (uint8_t value : image.pixels)
            sum = sum + value;  // under MemorySanitizer: are all set?
        if (sum == 1) std::printf("one\n");
    } catch (const Stopped& stopped) {
        if (stopped.status != 2) std::abort();
    }
    free_all();
    return 0;
}
