"""Files of every kind that common/image.h reads, made by Pillow or by hand: for tests and fuzzing."""

import io
import struct
import zlib

import numpy
from PIL import Image

MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def sample(height, width, channels, seed=1):
    """Random pixels: (height, width) for one channel, otherwise (height, width, channels)."""
    shape = (height, width) if channels == 1 else (height, width, channels)
    return numpy.random.default_rng(seed).integers(0, 256, shape, dtype="uint8")


def smooth(height, width, channels=3):
    """Pixels that JPEG keeps nearly as they are."""
    rows, columns = numpy.mgrid[0:height, 0:width]
    planes = [40 + rows * 150 // height, 220 - columns * 180 // width,
              60 + (rows + columns) * 90 // (height + width)]
    pixels = numpy.stack(planes[:channels], axis=-1).astype("uint8")
    return pixels[..., 0] if channels == 1 else pixels


def saved(pixels, kind, **options):
    """The bytes of a file that Pillow writes."""
    image = pixels if isinstance(pixels, Image.Image) else Image.fromarray(pixels)
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def png_part(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def png(width, height, bits, colour, rows, *parts, interlaced=0):
    """A PNG file of any colour type and depth; `rows` are the bytes before compression."""
    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + png_part(b"IHDR", header) + b"".join(parts)
            + png_part(b"IDAT", zlib.compress(rows)) + png_part(b"IEND", b""))


def png_16_bits(values):
    """Gray, 16 bits a channel."""
    values = numpy.asarray(values, dtype=">u2")
    rows = b"".join(b"\0" + row.tobytes() for row in values)
    return png(values.shape[1], values.shape[0], 16, 0, rows)


def apple_png(pixels):
    """As Apple's tools pack them: blue first, alpha multiplied in, and no zlib header or check sum."""
    height, width, _ = pixels.shape
    alpha = pixels[..., 3:].astype(int)
    mixed = (pixels[..., :3] * alpha + 127) // 255
    stored = numpy.concatenate([mixed[..., ::-1], alpha], axis=-1).astype("uint8")
    packer = zlib.compressobj(wbits=-15)
    rows = packer.compress(b"".join(b"\0" + row.tobytes() for row in stored)) + packer.flush()
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + png_part(b"CgBI", b"\x50\0\x20\2") + png_part(b"IHDR", header)
            + png_part(b"IDAT", rows) + png_part(b"IEND", b""))


def jpeg_with_restarts(values):
    """Gray blocks of 8 x 8, each of one value, with a restart mark behind every second one."""
    height, width = values.shape
    # one quantiser of 8; codes of 4 bits for the sizes 0 to 11 of a difference, and 0 for "no more"
    tables = (b"\xff\xdb\0\x43\0" + bytes([8] * 64) + b"\xff\xc4\0\x1f\0\0\0\0\x0c" + bytes(12) + bytes(range(12))
              + b"\xff\xc4\0\x14\x10\1" + bytes(15) + b"\0" + b"\xff\xdd\0\4\0\2")
    frame = b"\xff\xc0\0\x0b\x08" + struct.pack(">HH", 8 * height, 8 * width) + b"\1\1\x11\0"
    parts, flat = [], values.astype(int).reshape(-1) - 128
    for start in range(0, flat.size, 2):
        bits, before = "", 0
        for value in flat[start:start + 2]:  # times 8, divided by 8
            difference, before = value - before, value
            size = int(abs(difference)).bit_length()
            bits += f"{size:04b}" + (f"{difference + (difference < 0) * ((1 << size) - 1):0{size}b}" if size else "") + "0"
        bits += "1" * (-len(bits) % 8)
        data = bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))
        parts.append(data.replace(b"\xff", b"\xff\0"))
    scan = b"".join(part + (bytes([0xFF, 0xD0 + i % 8]) if i + 1 < len(parts) else b"") for i, part in enumerate(parts))
    return b"\xff\xd8" + tables + frame + b"\xff\xda\0\x08\1\1\0\0\x3f\0" + scan + b"\xff\xd9"


def pnm(pixels, highest=255):
    """P5 or P6, of bytes or of 16-bit numbers."""
    height, width = pixels.shape[:2]
    data = pixels.astype(">u2" if highest > 255 else "uint8").tobytes()
    return b"P%d\n%d %d\n%d\n" % (5 if pixels.ndim == 2 else 6, width, height, highest) + data


def psd(pixels, packed=False, bits=8):
    """A Photoshop file of one layer: RGB or RGBA."""
    height, width, channels = pixels.shape
    header = b"8BPS" + struct.pack(">H6xHIIHH", 1, channels, height, width, bits, 3) + bytes(12)
    planes = numpy.moveaxis(pixels, -1, 0)
    if not packed:
        return header + b"\0\0" + planes.astype(f">u{bits // 8}").tobytes()
    assert width <= 128
    lengths = struct.pack(">H", width + 1) * (height * channels)
    rows = b"".join(bytes([width - 1]) + row.tobytes() for row in planes.reshape(-1, width))
    return header + b"\0\1" + lengths + rows


def hdr(pixels, packed=False):
    """Radiance: every value 0 to 255 becomes value / 256, with the exponent 128."""
    height, width, _ = pixels.shape
    header = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y %d +X %d\n" % (height, width)
    rgbe = numpy.concatenate([pixels, numpy.full((height, width, 1), 128, "uint8")], axis=-1)
    if not packed:
        return header + rgbe.tobytes()
    assert 8 <= width <= 128
    rows = [struct.pack(">BBH", 2, 2, width)
            + b"".join(bytes([width]) + plane.tobytes() for plane in row.T) for row in rgbe]
    return header + b"".join(rows)


def pic(pixels, packed=0):
    """Softimage: RGB, stored plainly (0) or as mixed runs (2)."""
    height, width, _ = pixels.shape
    header = b"\x53\x80\xf6\x34" + bytes(84) + b"PICT" + struct.pack(">HHIHH", width, height, 0, 3, 0)
    packet = bytes([0, 8, packed, 0xE0])
    if packed == 0:
        return header + packet + pixels.tobytes()
    assert width <= 128
    return header + packet + b"".join(bytes([width - 1]) + row.tobytes() for row in pixels)


def tga(pixels, packed=False):
    """From the top row down; Pillow packs runs only on request."""
    return saved(pixels, "TGA", **({"compression": "tga_rle"} if packed else {}))


def gif(*frames):
    first, *others = [Image.fromarray(frame).convert("P") for frame in frames]
    return saved(first, "GIF", save_all=True, append_images=others)


def every_kind():
    """One small file or more of each format and kind: name -> (bytes, the channels stored)."""
    rgb, flat = sample(5, 9, 3), numpy.full((6, 10, 3), 77, "uint8")
    palette = Image.fromarray(smooth(6, 10)).quantize(7)
    files = {}
    for channels, mode in MODES.items():
        files[f"{mode}.png"] = saved(sample(5, 9, channels), "PNG"), channels
        files[f"{mode}.tga"] = tga(sample(5, 9, channels)), channels
        files[f"{mode}-packed.tga"] = tga(sample(5, 9, channels), packed=True), channels
    files["bits.png"] = saved(Image.fromarray(sample(5, 9, 1)).convert("1"), "PNG"), 1
    files["palette.png"] = saved(palette, "PNG"), 3
    files["palette-clear.png"] = saved(palette, "PNG", transparency=1), 4
    files["16.png"] = png_16_bits(sample(5, 9, 1).astype("uint16") * 257), 1
    # 3 x 2 gray, interlaced: the passes 1 (a pixel), 6 (a pixel) and 7 (the second row)
    files["interlaced.png"] = png(3, 2, 8, 0, b"\0\x10\0\x30\0\x20\0\x40\x50\x60", interlaced=1), 1
    files["rgb.bmp"] = saved(rgb, "BMP"), 3
    files["rgba.bmp"] = saved(sample(5, 9, 4), "BMP"), 4
    files["gray.bmp"] = saved(sample(5, 9, 1), "BMP"), 3
    files["palette.bmp"] = saved(palette, "BMP"), 3
    files["bits.bmp"] = saved(Image.fromarray(sample(5, 9, 1)).convert("1"), "BMP"), 3
    files["one.gif"] = gif(flat), 4
    files["two.gif"] = gif(smooth(6, 10), flat), 4
    files["rgb.jpg"] = saved(smooth(16, 24), "JPEG", quality=95, subsampling=0), 3
    files["420.jpg"] = saved(smooth(17, 25), "JPEG", quality=95), 3
    files["gray.jpg"] = saved(smooth(16, 24, 1), "JPEG", quality=95), 1
    files["progressive.jpg"] = saved(smooth(16, 24), "JPEG", quality=95, progressive=True), 3
    files["cmyk.jpg"] = saved(Image.fromarray(smooth(16, 24)).convert("CMYK"), "JPEG", quality=95), 3
    files["restarts.jpg"] = jpeg_with_restarts(sample(3, 4, 1)), 1
    files["apple.png"] = apple_png(numpy.concatenate([sample(5, 9, 3), numpy.full((5, 9, 1), 255, "uint8")], -1)), 4
    files["gray.pgm"] = pnm(sample(5, 9, 1)), 1
    files["rgb.ppm"] = pnm(rgb), 3
    files["16.ppm"] = pnm(rgb.astype("uint16") * 257, 65535), 3
    files["rgb.psd"] = psd(rgb), 4
    files["rgba-packed.psd"] = psd(sample(5, 9, 4), packed=True), 4
    files["16.psd"] = psd(rgb.astype("uint16") * 257, bits=16), 4
    files["rgb.hdr"] = hdr(sample(5, 7, 3)), 3
    files["rgb-packed.hdr"] = hdr(rgb, packed=True), 3
    files["rgb.pic"] = pic(rgb), 3
    files["rgb-packed.pic"] = pic(rgb, packed=2), 3
    return files
