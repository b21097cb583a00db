"""common/image.h against Pillow: every format is read and written right, and everything that is
broken is refused with a sentence."""

import base64
import io
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import time
import zlib

import numpy
import pytest
from PIL import Image

import farm
import pictures
from pictures import MODES, pnm, sample, saved, smooth

SOURCE = "tests/programs/image_copy.cu"
pytestmark = pytest.mark.builds(SOURCE)

KINDS = pictures.every_kind()
ALPHA_NOTE = "its alpha channel is dropped"
BITS_NOTE = "its channels are reduced to 8 bits"


@pytest.fixture(scope="module")
def program(build):
    return build(SOURCE)


def opened(path):
    """The pixels of a picture, as Pillow sees them."""
    with Image.open(path) as image:
        return numpy.asarray(image)


def refused(result, *words):
    """Exit status 2, one sentence on standard error that holds the words, and nothing printed."""
    assert result.returncode == 2, result
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("image_copy: "), result.stderr
    for word in words:
        assert word in result.stderr


def notes(result):
    """What was remarked on standard error, without the names of the program and the file."""
    assert result.returncode == 0, result.stderr
    return [line.split(": ", 3)[3] for line in result.stderr.splitlines()]


def copied(program, run, folder, content, channels=0, name="in"):
    """The pixels of a file after reading and writing, and the notes."""
    (folder / name).write_bytes(content)
    result = run(program, "--input", folder / name, "--output", folder / "out.png", "--channels", channels)
    remarks = notes(result)
    pixels = opened(folder / "out.png")
    stored = pixels.shape[2] if pixels.ndim == 3 else 1
    assert result.stdout == f"{pixels.shape[0]} x {pixels.shape[1]}, {stored}\n"
    return pixels, remarks


def as_stored(name, content, channels):
    """What the file of this name in KINDS holds, by Pillow where it can, otherwise by its maker."""
    if name.endswith((".hdr", ".pic", ".psd")) or name.startswith("16"):
        pixels = sample(5, 9, 3)
        if name == "16.png":
            pixels = sample(5, 9, 1)
        if name == "rgba-packed.psd":
            return unmatted(sample(5, 9, 4))
        if name.endswith(".hdr"):
            pixels = sample(5, 7, 3) if name == "rgb.hdr" else pixels
            return numpy.floor((pixels / 256.0) ** (1 / 2.2) * 255 + 0.5).astype("uint8")
        if channels == 4:
            pixels = numpy.concatenate([pixels, numpy.full((5, 9, 1), 255, "uint8")], axis=-1)
        return pixels
    if name == "apple.png":
        return numpy.concatenate([sample(5, 9, 3), numpy.full((5, 9, 1), 255, "uint8")], axis=-1)
    if name == "rgba.bmp":  # Pillow itself takes its fourth channel for padding
        return sample(5, 9, 4)
    with Image.open(io.BytesIO(content)) as image:
        return numpy.asarray(image.convert(MODES[channels]))


def unmatted(pixels):
    """stb takes the white that Photoshop mixes in below transparent pixels out again."""
    alpha = pixels[..., 3:] / 255.0
    with numpy.errstate(divide="ignore", invalid="ignore"):
        clean = pixels[..., :3] / alpha + 255 * (1 - 1 / alpha)
    # what falls below zero has no right answer, and is not compared
    pixels = pixels.astype(int)
    pixels[..., :3] = numpy.where((alpha > 0) & (alpha < 1), clean, pixels[..., :3])
    return pixels


# Reading


@pytest.mark.parametrize("name", KINDS)
def test_every_format(program, run, folder, name):
    """Read by its content: the name says nothing."""
    content, channels = KINDS[name]
    pixels, remarks = copied(program, run, folder, content, name="picture.text")
    expected = as_stored(name, content, channels).astype(int)
    assert pixels.shape == expected.shape
    difference = numpy.abs(pixels.astype(int) - expected)[(expected >= 0) & (expected <= 255)]
    assert difference.max() <= (4 if name.endswith(".jpg") else 1 if name.endswith((".hdr", ".psd")) else 0)
    assert remarks == ([BITS_NOTE] if name.startswith("16") or name.endswith(".hdr") else [])


@pytest.mark.parametrize("stored", MODES)
@pytest.mark.parametrize("kind", ["PNG", "TGA"])
def test_the_channels_asked_for_are_the_stride(program, run, folder, stored, kind):
    pixels = sample(8, 8, stored)
    for wanted in range(5):
        found, remarks = copied(program, run, folder, saved(pixels, kind), wanted)
        image = Image.fromarray(pixels)
        if stored in (2, 4) and wanted in (1, 3):  # dropped, not mixed
            image = image.convert(MODES[stored - 1])
        expected = numpy.asarray(image.convert(MODES[wanted or stored])).astype(int)
        assert found.shape == expected.shape
        gray = stored > 2 and wanted in (1, 2)  # stb's weights are rounded to 256ths
        assert numpy.abs(found - expected).max() <= (1 if gray else 0)
        assert remarks == ([ALPHA_NOTE] if stored in (2, 4) and wanted in (1, 3) else [])


def test_alpha_that_says_nothing_is_not_mentioned(program, run, folder):
    """stb gives an alpha channel to every GIF and PSD file."""
    for name, clear in [("one.gif", False), ("rgb.psd", False), ("rgba-packed.psd", True)]:
        _, remarks = copied(program, run, folder, KINDS[name][0], 3)
        assert remarks == ([ALPHA_NOTE] if clear else []), name


def test_16_bits(program, run, folder):
    pixels, remarks = copied(program, run, folder, pictures.png_16_bits([[0x01FF]]))
    assert pixels.tolist() == [[1]] and remarks == [BITS_NOTE]
    values = numpy.array([[0, 0x01FF, 0x7FFF], [0x8000, 0xFE80, 0xFFFF]], "uint16")
    for channels in (0, 3, 4):
        pixels, remarks = copied(program, run, folder, pnm(values, 65535), channels)
        red = pixels if channels == 0 else pixels[..., 0]
        assert red.tolist() == [[0, 2, 127], [128, 254, 255]] and remarks == [BITS_NOTE]


@pytest.mark.parametrize("highest", [1, 3, 100, 254, 255, 1000, 65535])
def test_pnm_of_any_depth(program, run, folder, highest):
    values = numpy.arange(12).reshape(3, 4) * highest // 11
    pixels, _ = copied(program, run, folder, pnm(values.astype("uint16"), highest))
    assert pixels.tolist() == ((values * 255 + highest // 2) // highest).tolist()


ASCII = {
    "P3": (b"P3\n2 1\n255\n1 2 3 4 5 6\n", [[[1, 2, 3], [4, 5, 6]]]),
    "P3 with comments and a byte order mark": (b"\xef\xbb\xbfP3 # so\r\n2 1 255#\n1 2 3\r\n# 7 7 7\r4 5 6", [[[1, 2, 3], [4, 5, 6]]]),
    "P2": (b"P2 3 1 15 0 7 15", [[0, 119, 255]]),
    "P2 of 16 bits": (b"P2 3 1 65535 0 511 65535", [[0, 2, 255]]),
    "P1": (b"P1\n# black is 1\n3 2\n0 1 1\n101", [[255, 0, 0], [0, 255, 0]]),
    "P4": (b"P4\n10 2\n\xa0\x40\x00\xff", [[0, 255, 0] + [255] * 6 + [0], [255] * 8 + [0, 0]]),
}


@pytest.mark.parametrize("content, remark", [
    (b"P5\n2 1\n255\n\x01\x02", ""), (b"P5\n2 1\n255\n\x01\x02\n", ""), (b"P2 2 1 255 1 2 # end\n", ""),
    (b"P5\n2 1\n255\n\x01\x02P5\n2 1\n255\n\x03\x04", "bytes follow its pixels: they are not read"),
    (b"P2 2 1 255 1 2 3", "bytes follow its pixels: they are not read"),
    (b"P5\r\n2 1\r\n255\r\n\x01\x02", "its header ends with two bytes, CR and LF, and the second counts as a pixel's: "
                                      "are all shifted by one?"),
])
def test_what_follows_the_pixels_of_a_pnm_file(program, run, folder, content, remark):
    assert copied(program, run, folder, content)[1] == ([remark] if remark else [])


@pytest.mark.parametrize("content, expected", ASCII.values(), ids=ASCII.keys())
def test_pnm_as_text_and_bits(program, run, folder, content, expected):
    pixels, remarks = copied(program, run, folder, content)
    assert pixels.tolist() == expected and remarks == ([BITS_NOTE] if b"65535" in content else [])


BROKEN_PNM = {
    "too few numbers": (b"P3 2 1 255 1 2 3 4 5", "take 6 numbers, and behind 5 of them it ends"),
    "letters": (b"P2 2 1 255 1 x ", "take 2 numbers, and behind 1 of them stands something else"),
    "a minus": (b"P2 2 1 255 1 -1 ", "behind 1 of them stands something else"),
    "too high": (b"P2 2 1 100 1 101", "it holds the number 101, and its header says that the highest is 100"),
    "too high, in bytes": (b"P5 2 1 100 \1\x65", "it holds the number 101"),
    "no numbers": (b"P3 is a text of its own", "its header is broken"),
    "bits cut short": (b"P4 10 2 \xa0\x40\x00", "its 2 x 10 pixels take 4 bytes, and 3 follow"),
}


@pytest.mark.parametrize("content, words", BROKEN_PNM.values(), ids=BROKEN_PNM.keys())
def test_broken_pnm(program, run, folder, content, words):
    (folder / "in.ppm").write_bytes(content)
    refused(run(program, "--input", folder / "in.ppm"), "in.ppm", words)


def test_apple_png_with_alpha(program, run, folder):
    """Apple multiplies alpha into the colours: what can be taken out of them again is."""
    pixels = numpy.array([[[200, 100, 50, 255], [200, 100, 50, 51], [0, 0, 0, 0]]], "uint8")
    found, remarks = copied(program, run, folder, pictures.apple_png(pixels))
    assert numpy.abs(found.astype(int) - pixels).max() <= 3 and remarks == []


def test_pnm_headers(program, run, folder):
    for header in [b"P5 2 1 255 ", b"P5\n# made by hand\n2 1\n# and more\n255\n", b"P5\t2\r\n1\r\n255\n"]:
        pixels, _ = copied(program, run, folder, header + b"\x05\x09 and more behind")
        assert pixels.tolist() == [[5, 9]]


def segments_without(content, kind):
    """A JPEG file without its segments of this kind."""
    result, at = content[:2], 2
    while content[at + 1] != 0xDA:
        end = at + 2 + struct.unpack(">H", content[at + 2:at + 4])[0]
        result += content[at:end] if content[at + 1] != kind else b""
        at = end
    return result + content[at:]


def test_cmyk(program, run, folder):
    content = KINDS["cmyk.jpg"][0]
    pixels, _ = copied(program, run, folder, content, 3)
    assert numpy.abs(pixels.astype(int) - smooth(16, 24)).max() < 12
    (folder / "in.jpg").write_bytes(segments_without(content, 0xEE))  # Adobe's, which says how
    refused(run(program, "--input", folder / "in.jpg"), "in.jpg", "four channels", "save it as RGB")


def test_orientation_is_ignored(program, run, folder):
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels, remarks = copied(program, run, folder, saved(smooth(2, 4), "JPEG", exif=exif, quality=95))
    assert pixels.shape == (2, 4, 3) and remarks == []


def test_animation_gives_its_first_picture(program, run, folder):
    first = smooth(6, 10)
    pixels, _ = copied(program, run, folder, pictures.gif(first, first[::-1], first[:, ::-1]), 3)
    assert numpy.array_equal(pixels, numpy.asarray(Image.fromarray(first).convert("P").convert("RGB")))


@pytest.mark.parametrize("height, width", [(1, 1), (1, 7), (7, 1), (1, 1200000), (70000, 1), (113, 67)])
def test_sizes(program, run, folder, height, width):
    """There and back in the formats without loss; what a format cannot hold is refused."""
    pixels = sample(height, width, 3) if height * width < 10000 else smooth(height, width)
    (folder / "in.ppm").write_bytes(pnm(pixels))
    for name in ["out.png", "out.bmp", "out.ppm", "out.tga", "out.jpg"]:
        result = run(program, "--input", folder / "in.ppm", "--output", folder / name)
        if name[-3:] in ("tga", "jpg") and max(height, width) > 65535:
            assert result.returncode == 1 and "at most 65535 pixels a side" in result.stderr
            assert name in result.stderr and "write a .png" in result.stderr
            continue
        assert result.stdout == f"{height} x {width}, 3\n" and result.stderr == ""
        if name != "out.jpg":
            run(program, "--input", folder / name, "--output", folder / "again.ppm")
            assert (folder / "again.ppm").read_bytes() == pnm(pixels)
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_random_pictures(program, run, folder):
    """Eight bytes from each counter of splitmix64; the same on every machine."""
    mask = 2**64 - 1

    def mixed(bits):
        bits = bits * 0x9E3779B97F4A7C15 & mask
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & mask
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & mask
        return bits ^ bits >> 31

    words = b"".join(struct.pack("<Q", mixed(mixed(8) + i & mask)) for i in range(0, 45, 8))
    result = run(program, "--height", 3, "--width", 5, "--channels", 3, "--output", folder / "out.ppm")
    assert result.returncode == 0 and (folder / "out.ppm").read_bytes() == b"P6\n5 3\n255\n" + words[:45]


# Refusing what is wrong


def test_no_file(program, run, folder):
    refused(run(program, "--input", folder / "none.png"), "none.png", "No such file or directory")
    refused(run(program, "--input", folder), "it is a folder")
    refused(run(program, "--input", "/dev/zero", timeout=10), "it is not a regular file")
    (folder / "empty.png").touch()
    refused(run(program, "--input", folder / "empty.png"), "empty.png", "it is empty")


def tga_header(kind, height, width, bits, palette=0):
    return struct.pack("<BBBHHBHHHHBB", 0, palette, kind, 0, 0, 0, 0, 0, width, height, bits, 0)


NO_PICTURES = {
    "text": b"This is no picture.\n" * 20,
    "one byte": b"1",
    "two bytes of text": b"\n\n",
    "text of control letters": b"\t\n\n\t" * 30,
    "UTF-16": "\n\n\x02\t text ".encode("utf-16-le") * 9,
    "UTF-16 with its mark": "some text\n".encode("utf-16") * 9,
    "zeros": bytes(500),
    "ones": b"\xff" * 500,
    "start of a PNG": b"\x89PNG\r\n",
    "start of a JPEG": b"\xff\xd8",
    "array": b"\x93NUMPY\x01\x00v\x00{'descr': '<f4'" + bytes(200),
    "icon": b"\0\0\1\0\1\0\x10\x10" + bytes(200),
    "program": b"\x7fELF\2\1\1" + bytes(200),
}

NOT_READ = {
    "a PAM picture": b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\n\0",
    "a TIFF picture": b"II*\0\x08\0\0\0" + bytes(100),
    "a WebP picture": b"RIFF\x24\0\0\0WEBPVP8 " + bytes(100),
    "a HEIC or AVIF picture": b"\0\0\0\x18ftypheic" + bytes(100),
    "a JPEG 2000 picture": b"\0\0\0\x0cjP  \r\n\x87\n" + bytes(100),
    "a JPEG XL picture": b"\xff\x0a" + bytes(100),
    "text in UTF-16": "P3\n1 1\n255\n1 2 3\n".encode("utf-16"),
}


@pytest.mark.parametrize("kind", NOT_READ)
def test_a_picture_of_a_kind_that_is_not_read(program, run, folder, kind):
    (folder / "in.png").write_bytes(NOT_READ[kind])
    refused(run(program, "--input", folder / "in.png"), f"it is {kind}", "not read here; save it as PNG")


@pytest.mark.parametrize("content", NO_PICTURES.values(), ids=NO_PICTURES.keys())
def test_no_picture(program, run, folder, content):
    path = folder / "a picture.png"
    path.write_bytes(content)
    refused(run(program, "--input", path), f'cannot read "{path}": it is no picture (PNG, JPEG, ')


def psd_header(height, width, channels=3):
    return b"8BPS" + struct.pack(">H6xHIIHH", 1, channels, height, width, 8, 3) + bytes(14)


def png_header(height, width, bits=8, colour=2):
    return pictures.png(width, height, bits, colour, b"")


def jpeg_header(height, width):
    content = bytearray(KINDS["rgb.jpg"][0])
    at = content.index(b"\xff\xc0")
    content[at + 5:at + 9] = struct.pack(">HH", height, width)
    return bytes(content)


def bmp_header(height, width):
    return b"BM" + struct.pack("<IIIIiiHHIIIIII", 0, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0) + bytes(20)


def pic_header(height, width):
    return b"\x53\x80\xf6\x34" + bytes(84) + b"PICT" + struct.pack(">HHIHH", width, height, 0, 3, 0)


LIES = {
    "PNG": png_header(60000, 60000),
    "PNG of bits": png_header(60000, 30000, 1, 0),
    "PNG of 2^31": png_header(2**31 - 1, 2**31 - 1),
    "PNG of no row": png_header(0, 5),
    "JPEG": jpeg_header(60000, 60000),
    "JPEG of no column": jpeg_header(16, 0),
    "BMP": bmp_header(60000, 60000),
    "BMP from the top": bmp_header(-60000, 60000),
    "BMP of -2^31": bmp_header(-2**31, 3),
    "BMP of a negative width": bmp_header(3, -3),
    "GIF": b"GIF89a" + struct.pack("<HHBBB", 60000, 60000, 0x80, 0, 0) + bytes(20),
    "TGA": tga_header(2, 60000, 60000, 24) + bytes(100),
    "TGA in runs": tga_header(10, 60000, 60000, 24) + bytes(100),
    "PSD": psd_header(30000, 30000) + bytes(100),
    "PSD of no channel": psd_header(20000, 20000, 0) + bytes(100),
    "HDR": b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 60000 +X 30000\n" + bytes(100),
    "HDR of negative size": b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y -5 +X -5\n" + bytes(100),
    "PIC": pic_header(60000, 60000) + b"\0\x08\2\xe0" + bytes(50),
    "PPM": b"P6\n60000 60000\n255\n" + bytes(100),
    "PPM of 2^31": b"P6\n2147483648 2147483648\n255\n" + bytes(100),
    "PPM of 2^64": b"P6\n18446744073709551617 1\n255\n" + bytes(100),
    "PPM of negative size": b"P6\n-1 -1\n255\n" + bytes(100),
    "PPM of depth 0": b"P6\n1 1\n0\n" + bytes(100),
    "PPM of depth 2^16": b"P6\n1 1\n65536\n" + bytes(100),
}


@pytest.mark.parametrize("content", LIES.values(), ids=LIES.keys())
def test_a_header_that_lies(program, folder, content):
    """Refused before there is room made for its pixels."""
    path = folder / "in.png"
    path.write_bytes(content)
    process = subprocess.Popen([program, "--input", path], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    _, status, usage = os.wait4(process.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 2
    sentence = process.stderr.read()
    assert sentence.startswith(f'image_copy: cannot read "{path}": ') and sentence.count("\n") == 1
    assert usage.ru_maxrss < 400 * 1024 and usage.ru_utime < 2  # some of it pytest's, before exec()
    process.stderr.close()
    process.stdout.close()


def cuts(content):
    """Lengths at which a file may be cut: all of the last bytes, and some before."""
    size = len(content)
    return sorted({*range(1, size, max(size // 9, 1)), size - 40, size - 13, size - 12, size - 3, size - 2, size - 1})


@pytest.mark.parametrize("name", KINDS)
def test_every_truncation(program, run, folder, name):
    """A picture that is cut short is refused; nothing is made up for what is missing."""
    content, _ = KINDS[name]
    whole, _ = copied(program, run, folder, content)
    for length in cuts(content):
        (folder / "cut.png").write_bytes(content[:length])
        result = run(program, "--input", folder / "cut.png", "--output", folder / "out.png")
        if result.returncode == 0:  # the end of some formats is of no use: padding, the next picture
            assert length > len(content) * 0.75 - 60 and not name.endswith((".png", ".jpg"))
            assert numpy.array_equal(opened(folder / "out.png"), whole)
        else:
            lines = [line for line in result.stderr.splitlines() if ": note: " not in line]
            assert result.returncode == 2 and len(lines) == 1 and "cut.png" in lines[0]


@pytest.mark.parametrize("options", [{"quality": 75}, {"progressive": True}, {"quality": 20}])
def test_a_jpeg_that_ends_early(program, run, folder, options):
    """stb alone would fill the rest with gray, and say nothing."""
    content = saved(sample(64, 64, 3), "JPEG", **options)
    for share in (0.5, 0.9, 0.999):
        (folder / "in.jpg").write_bytes(content[:int(len(content) * share)])
        refused(run(program, "--input", folder / "in.jpg"), "in.jpg", "it ends early")


def test_a_jpeg_with_an_end_in_its_middle(program, run, folder):
    """The marks of a file are whole, and its data are not."""
    for options in ({"quality": 75}, {"progressive": True}, {"quality": 5, "subsampling": 0}):
        content = saved(sample(64, 64, 3), "JPEG", **options)
        start = segment(content, 0xDA)[1]
        for share in (0.01, 0.3, 0.7, 0.99):
            cut = start + int((len(content) - start) * share)
            for rest in (b"", content[cut:]):
                (folder / "in.jpg").write_bytes(content[:cut].rstrip(b"\xff") + b"\xff\xd9" + rest)
                refused(run(program, "--input", folder / "in.jpg"), "in.jpg", "it ends early")


def test_damage_in_the_data_of_a_jpeg(program, run, folder):
    good = pictures.jpeg_with_restarts(sample(6, 8, 1))
    scan = segment(good, 0xDA)[1]
    marks = [at for at in range(scan, len(good) - 2) if good[at] == 0xFF and good[at + 1] & 0xF8 == 0xD0]
    lost = good[:marks[3]] + good[marks[3] + 2:]
    swapped = bytearray(good)
    swapped[marks[3] + 1] ^= 3
    no_code = good[:scan] + b"\xf0" + good[scan + 1:]
    words = {lost: "a restart mark is missing", bytes(swapped): "a restart mark", no_code: "break the rules of their code",
             good[:marks[5]] + b"\xff\xd9": "it ends early"}
    for content, sentence in words.items():
        (folder / "in.jpg").write_bytes(content)
        refused(run(program, "--input", folder / "in.jpg"), "in.jpg", sentence)
    plain = saved(sample(16, 16, 1), "JPEG")
    _, remarks = copied(program, run, folder, plain[:-2] + b"\x12\x34" + plain[-2:])
    assert remarks == ["it holds bytes that belong to nothing: it may be damaged"]
    _, remarks = copied(program, run, folder, plain[:-2] + bytes(4) + plain[-2:])  # some cameras pad
    assert remarks == []


@pytest.mark.parametrize("marker, place, byte", [(0xDB, 9, 0), (0xC4, 18, None)])
def test_tables_of_a_jpeg_that_no_program_writes(program, run, folder, marker, place, byte):
    """A step of 0; and one meaning for two codes."""
    content = bytearray(saved(sample(16, 16, 1), "JPEG"))
    assert copied(program, run, folder, bytes(content))[1] == []
    at = content.index(bytes([0xFF, marker])) + 4 + place
    content[at] = content[at - 1] if byte is None else byte
    (folder / "in.jpg").write_bytes(content)
    result = run(program, "--input", folder / "in.jpg")
    assert "it may be damaged" in result.stderr or result.returncode == 2, result


def test_a_progressive_jpeg_without_its_last_scans(program, run, folder):
    content = saved(sample(32, 32, 1), "JPEG", progressive=True)
    last = content.rindex(b"\xff\xda")
    last = min(last, content.rindex(b"\xff\xc4") if content.rindex(b"\xff\xc4") < last else last)
    _, remarks = copied(program, run, folder, content[:last] + b"\xff\xd9")
    assert remarks == ["it ends before its last scan: details are missing"]


def test_a_jpeg_of_a_kind_that_is_not_read(program, run, folder):
    content = bytearray(saved(smooth(16, 16), "JPEG"))
    frame = segment(content, 0xC0)[0]
    for place, value, words in ((1, 0xC9, "arithmetic codes"), (1, 0xC3, "lossless coding"), (1, 0xC5, "several frames"),
                                (4, 12, "more than 8 bits a channel")):
        other = bytearray(content)
        other[frame + place] = value
        (folder / "in.jpg").write_bytes(other)
        refused(run(program, "--input", folder / "in.jpg"), f"a JPEG file with {words}, which are not read; save it as PNG")


def changed(kind, place, new):
    """jpeg -> the same, with other bytes at a place of its first segment of this kind."""

    def change(jpeg):
        at = segment(jpeg, kind)[0] + place
        return jpeg[:at] + new + jpeg[at + len(new):]

    return change


def segment(jpeg, kind):
    """Where the first segment of this kind begins and ends."""
    at = 2
    while True:
        end = at + 2 + struct.unpack(">H", jpeg[at + 2:at + 4])[0]
        if jpeg[at + 1] == kind:
            return at, end
        at = end


def two_frames(jpeg):
    start, end = segment(jpeg, 0xC0)
    return jpeg[:end] + jpeg[start:]


BROKEN_JPEGS = {
    "no Huffman tables": lambda jpeg: segments_without(jpeg, 0xC4),
    "no table of divisors": lambda jpeg: segments_without(jpeg, 0xDB),
    "300 codes": changed(0xC4, 5, bytes(14) + b"\xff\x2d"),
    "three codes of one bit": changed(0xC4, 5, b"\3"),
    "table of kind 2": changed(0xC4, 4, b"\x20"),
    "two frames": two_frames,
    "scan of an unknown channel": changed(0xDA, 5, b"\x09"),
    "no scan": lambda jpeg: jpeg[:segment(jpeg, 0xDA)[0]] + b"\xff\xd9",
    "nothing": lambda jpeg: b"\xff\xd8\xff\xd9",
}


@pytest.mark.parametrize("broken", BROKEN_JPEGS.values(), ids=BROKEN_JPEGS.keys())
@pytest.mark.parametrize("name", ["rgb.jpg", "gray.jpg"])
def test_a_broken_jpeg(program, run, folder, name, broken):
    (folder / "in.jpg").write_bytes(broken(KINDS[name][0]))
    result = run(program, "--input", folder / "in.jpg")
    refused(result, "in.jpg")
    assert "broken JPEG file" in result.stderr or "parts of the picture are missing" in result.stderr


def test_a_damaged_png(program, run, folder):
    content = bytearray(saved(sample(5, 9, 3), "PNG"))
    for part in (b"IHDR", b"IDAT"):
        damaged = bytearray(content)
        damaged[damaged.index(part) + 7] ^= 1
        (folder / "in.png").write_bytes(damaged)
        refused(run(program, "--input", folder / "in.png"), "in.png", f'the check sum of its part "{part.decode()}"')


def test_a_png_whose_parts_are_whole_and_whose_data_are_not(program, run, folder):
    """The check sums of the parts are right: somebody has packed the damage."""
    rows = b"".join(b"\0" + bytes([3 * row + column for column in range(9)]) for row in range(5))
    good = pictures.png(9, 5, 8, 0, rows)
    at = good.index(b"IDAT")
    data = good[at + 4:at + 4 + struct.unpack(">I", good[at - 4:at])[0]]

    def packed(data):
        return good[:at - 4] + pictures.png_part(b"IDAT", data) + pictures.png_part(b"IEND", b"")

    wrong = ["the check sum of its pixels is wrong: it may be damaged"]
    assert copied(program, run, folder, good)[1] == []
    for content, expected in ((packed(data[:-1] + bytes([data[-1] ^ 1])), wrong), (packed(data[:-4]), wrong),
                              (packed(zlib.compress(rows * 2)), ["it holds more pixels than its size says: it may be damaged"]),
                              (packed(data + b"more"), []), (good + b"more", ["bytes follow its end: they are not read"])):
        assert copied(program, run, folder, content)[1] == expected
    for broken in (packed(data[:len(data) // 2]), packed(b"")):
        (folder / "in.png").write_bytes(broken)
        result = run(program, "--input", folder / "in.png")
        assert result.returncode == 2 and "in.png" in result.stderr, result


def test_a_gif_whose_codes_end_early(program, run, folder):
    content = KINDS["one.gif"][0]
    start = content.index(b"\x2c", 13) + 10  # the size of the first codes, then blocks
    start += 0 if not content[start - 1] & 0x80 else 6 << (content[start - 1] & 7)
    size = content[start + 1]
    for kept in (1, size // 2):
        cut = content[:start + 1] + bytes([kept]) + content[start + 2:start + 2 + kept] + b"\0;"
        (folder / "in.gif").write_bytes(cut)
        refused(run(program, "--input", folder / "in.gif"), "in.gif", "it ends early: parts of the picture are missing")


@pytest.mark.parametrize("lab", ["05_rgb_to_gray", "06_image_flip", "07_image_blur", "08_convolution"])
def test_the_memory_is_asked_for_first(run, folder, lab):
    """Before a pixel is made, or decoded: the header of a picture is enough."""
    built = farm.call(farm.compile_lab, lab, "solutions", None)
    comment = b"\x21\xfe" + (b"\xff" + bytes(255)) * 1100 + b"\0"
    (folder / "huge.gif").write_bytes(b"GIF89a" + struct.pack("<HHBBB", 46340, 46340, 0, 0, 0) + comment + b";")
    if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") > 27e9 or farm.BACKEND != "cpu":
        pytest.skip("here there is memory enough")
    for words in (["--height", 100_000, "--width", 100_000], ["--input", folder / "huge.gif"]):
        start = time.monotonic()
        result = run(built.program, *words)
        assert result.returncode in (1, 2) and "memory for" in result.stderr, result
        assert time.monotonic() - start < 5, "much work was done before"


def test_changed_bytes_never_crash_it(program, run, folder):
    chance = random.Random(5)
    for name in list(KINDS) * 6:
        content = bytearray(KINDS[name][0])
        for _ in range(chance.choice([1, 1, 2, 5])):
            content[chance.randrange(min(len(content), 200))] = chance.choice([0, 255, chance.randrange(256)])
        (folder / "in.png").write_bytes(content)
        result = run(program, "--input", folder / "in.png", timeout=20)
        assert result.returncode in (0, 2), (name, result, bytes(content))
        assert result.returncode == 0 or "cannot read" in result.stderr or "not enough memory" in result.stderr


# What the fuzzer found (tests/fuzz): each once ended a program otherwise than by a sentence.
FOUND = {
    "JPEG whose codes lead outside their table, 1": (
        'c-s4a<NpH&0WUXCHwH#V1_nkTWcYuZ!I^=Hk<pfs5lAvJfdC6Lh-779VP;`tWn%+lc1}SC1_pLEHV$qMPA(7tvUs?;ct9MGArP%h'
        'tjx@;T<mP@TzEl%DTMxkB=-LhgCGZk0D}ZGqY?v?AS1IN<NqTJVnC+?orwh48Q6g0qUgd5Z0!GUG4L=mGB61+3xIsbAOIBL0C~$^'
        'fU6#;=f4006B9FvK1M;u#KMh=hMPbtfdOJK@G)n_uT6`@H+9S^@R{6{x~c#FO#p0TE5`'),
    "JPEG whose codes lead outside their table, 2": (
        'c-oDSJ#GRq5QX2^ySCSC;gtwAizw0tDHX*QNJv3kBRw@GIY0_3a)n3~9AOoSD-dXM5oBhTA0euImPVd8Gf!j3UHn6sjNir}0*DXd'
        '0V609Bq|}%64N9}bZQt0HZ#s<))?1vnHTt$w|p*%n4Cvds&(q^Lu#zQLIeL_VvWKfAZY4A6{HJ_Kj`r8y!RazhV`dM8U2^ou!obk'
        'RnOa1{qfqx@Yo4lrn0FJOr>TG?9vWr6L)jzUb+CqGfIJ~a`HW>Sk5)EsQDY$m*%e-FkQ|U@0-u~ixYt^GZz'),
    "JPEG whose codes lead outside their table, 3": (
        'c-s4a<NpH&0WUXCH!fV@{~-oJ4kiHx31&tm1|~s9W<kdPM;OEy7#SHEkO4ab8&F&nU6_H5{r@cn9%e=cCIMyv1_s6patvYu49uvC'
        '7+6?=syKjp8CjW5q65N)%3XjOdW1n*kb#kfnLz<bH6sg~BCE0i*al`sMtjCXt~;GAwoO?Kbg-15IujGrH76hxGf=&XA=nfK3{!w1'
        '!p6bP!_CFT!}Xt$lj}AEBNM|BW+^6M*f9M6&jb%Qu%7?#_RWLqXJTft7x<X7;@74{;+r~V75GeUO5N1||0V!(AVN3'),
}


@pytest.mark.parametrize("content", FOUND.values(), ids=FOUND.keys())
def test_what_the_fuzzer_found(program, run, folder, content):
    (folder / "in.png").write_bytes(zlib.decompress(base64.b85decode(content)))
    for channels in range(5):
        result = run(program, "--input", folder / "in.png", "--channels", channels, timeout=20)
        assert result.returncode in (0, 2)


# Writing


@pytest.mark.parametrize("channels", MODES)
@pytest.mark.parametrize("ending", ["png", "PNG", "bmp", "tga", "ppm", "pgm", "Jpg", "jpeg"])
def test_every_ending(program, run, folder, ending, channels):
    """The alpha channel goes where the format has none, and that is said."""
    pixels = smooth(12, 17, channels if channels != 2 else 1)
    if channels == 2:
        pixels = numpy.stack([pixels, pixels[::-1]], axis=-1)
    elif channels == 4:
        pixels = numpy.concatenate([smooth(12, 17), smooth(12, 17, 1)[..., None]], axis=-1)
    (folder / "in.png").write_bytes(saved(numpy.ascontiguousarray(pixels), "PNG"))
    result = run(program, "--input", folder / "in.png", "--output", folder / f"a picture.{ending}")
    if ending == "pgm" and channels > 2:
        assert result.returncode == 1 and not (folder / "a picture.pgm").exists()
        assert "a .pgm file holds gray pictures, and this one has colours; write a .ppm" in result.stderr
        return
    kind = {"jpeg": "jpg", "pgm": "ppm"}.get(ending.lower(), ending.lower())
    dropped = channels in (2, 4) and (kind in ("jpg", "ppm") or (kind, channels) == ("bmp", 2))
    assert notes(result) == (["such a file has no alpha channel; it is dropped"] if dropped else [])
    with Image.open(folder / f"a picture.{ending}") as image:
        assert image.format == {"jpg": "JPEG", "ppm": "PPM"}.get(kind, kind.upper())
        kept = MODES[channels - dropped]
        assert image.mode == kept or kind in ("bmp", "jpg")  # there stb writes gray as RGB
        found = numpy.asarray(image.convert(kept)).astype(int)
    expected = pixels[..., :channels - 1] if dropped else pixels
    assert numpy.abs(found - expected.reshape(found.shape)).max() <= (4 if kind == "jpg" else 0)


@pytest.mark.parametrize("name", ["out", "out.", "out.gif", "out.tiff", ".png/out", "png", "out.png.txt"])
def test_unknown_endings_are_refused_at_once(program, run, folder, name):
    (folder / ".png").mkdir()
    (folder / "in.png").write_text("never looked at")
    refused(run(program, "--input", folder / "in.png", "--output", folder / name),
            "--output: cannot write ", name, "must end in .png, .jpg, .bmp, .tga, .ppm or .pgm")


@pytest.mark.parametrize("ending", ["ppm", "PPM", "pgm"])
def test_gray_is_p5_under_both_names(program, run, folder, ending):
    result = run(program, "--height", 3, "--width", 5, "--channels", 1, "--output", folder / f"out.{ending}")
    assert result.returncode == 0 and (folder / f"out.{ending}").read_bytes().startswith(b"P5\n5 3\n255\n")


def test_no_pixels(program, run, folder):
    cases = [(0, 5, 3, "0 x 5 pixels"), (5, 0, 3, "5 x 0"), (2, 2, 5, "5 channels"), (2, 2, 0, "0 channels")]
    for height, width, channels, words in cases:
        for name in ("out.png", "out.ppm"):
            result = run(program, "--height", height, "--width", width, "--channels", channels,
                         "--output", folder / name)
            assert result.returncode == 1 and words in result.stderr and name in result.stderr
    assert list(folder.iterdir()) == []


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("ending", ["png", "ppm", "jpg"])
def test_a_full_disk_loses_nothing(program, folder, ending):
    """A limit on the size of files stands for the full disk."""
    (folder / "in").write_bytes(pnm(sample(200, 300, 3)))
    (folder / f"out.{ending}").write_bytes(b"what was there")
    before = contents(folder)
    for limit in [0, 64, 4096, 50000]:
        result = subprocess.run(
            [program, "--input", folder / "in", "--output", folder / f"out.{ending}"], text=True,
            capture_output=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        assert result.returncode == 1 and "File too large" in result.stderr, result
        assert f"out.{ending}" in result.stderr and contents(folder) == before


def test_the_target_is_not_the_input(program, run, folder):
    """Under no name: the original is kept."""
    content = saved(sample(20, 30, 4), "PNG")
    (folder / "in.png").write_bytes(content)
    (folder / "link.png").symlink_to("in.png")
    for name in ("in.png", "./in.png", "link.png"):
        refused(run(program, "--input", folder / "in.png", "--output", f"{folder}/{name}"),
                "--output would replace", "which --input reads")
        assert (folder / "in.png").read_bytes() == content


def test_where_nothing_can_be_written(program, run, folder):
    (folder / "in.png").write_bytes(KINDS["RGB.png"][0])
    for target in [folder / "none" / "out.png", folder / "in.png" / "out.png"]:
        refused(run(program, "--input", folder / "in.png", "--output", target), "--output: cannot write", str(target))
    (folder / "out.png").mkdir()
    refused(run(program, "--input", folder / "in.png", "--output", folder / "out.png"), "it is a folder")


# The course's own pictures


def test_the_script_makes_the_pictures_that_are_there(root, folder):
    subprocess.run([sys.executable, "-B", root / "data/make_pictures.py", folder], check=True, capture_output=True)
    names = sorted(path.name for path in folder.iterdir())
    assert names == sorted(path.name for path in (root / "data").iterdir() if path.suffix in (".png", ".jpg"))
    assert sum((root / "data" / name).stat().st_size for name in names) < 400_000
    for name in names:
        made, kept = opened(folder / name).astype(int), opened(root / "data" / name).astype(int)
        assert made.shape == kept.shape
        assert numpy.abs(made - kept).max() <= (16 if name.endswith(".jpg") else 0), name


def test_the_pictures_are_read(program, run, root, folder):
    for path in sorted((root / "data").glob("*.[pj]*g")):
        shutil.copy(path, folder / "in")
        result = run(program, "--input", folder / "in", "--output", folder / "out.png")
        assert notes(result) == []
        difference = numpy.abs(opened(folder / "out.png").astype(int) - opened(path))
        assert difference.max() <= (6 if path.suffix == ".jpg" else 0)
