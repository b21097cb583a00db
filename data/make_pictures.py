"""Draws the pictures of this folder, the same on every machine: python3 data/make_pictures.py [FOLDER].

Only sums, products and square roots, which all machines round alike; no font, no drawing library.
"""

import sys
from pathlib import Path

import numpy
from PIL import Image

FINE = 4  # pixels are drawn this many times finer along each side, then averaged


class Canvas:
    """A picture under the brush. x and y are in pixels of the finished picture, y downwards."""

    def __init__(self, x, y, colours):
        self.x, self.y, self.colours = x, y, colours

    @classmethod
    def blank(cls, height, width):
        rows, columns = numpy.mgrid[0:height * FINE, 0:width * FINE]
        return cls((columns + 0.5) / FINE, (rows + 0.5) / FINE, numpy.zeros((height * FINE, width * FINE, 3)))

    def part(self, left, top, right, bottom):
        """The canvas between these sides and a bit more: painting there paints the whole, sooner."""
        y, x = int(self.y[0, 0]), int(self.x[0, 0])
        rows = slice(max(int(top) - y - 1, 0) * FINE, max(int(bottom) - y + 2, 0) * FINE)
        columns = slice(max(int(left) - x - 1, 0) * FINE, max(int(right) - x + 2, 0) * FINE)
        return Canvas(self.x[rows, columns], self.y[rows, columns], self.colours[rows, columns])

    def paint(self, where, colour, opacity=1.0):
        """Lays a colour (or one for each place) over the places that the mask names."""
        shape = self.colours.shape
        strength = numpy.broadcast_to(opacity, shape[:2])[where][:, None]
        new = numpy.broadcast_to(numpy.asarray(colour, float), shape)[where]
        self.colours[where] += (new - self.colours[where]) * strength

    def box(self, left, top, right, bottom):
        return (self.x >= left) & (self.x < right) & (self.y >= top) & (self.y < bottom)

    def ellipse(self, x, y, across, down):
        return ((self.x - x) / across) ** 2 + ((self.y - y) / down) ** 2 < 1

    def polygon(self, *corners):
        """The inside of a convex polygon, its corners clockwise on the screen."""
        inside = numpy.ones(self.x.shape, bool)
        for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1]):
            inside &= (x1 - x0) * (self.y - y0) - (y1 - y0) * (self.x - x0) >= 0
        return inside

    def finished(self):
        height, width, _ = self.colours.shape
        fine = numpy.floor(self.colours.clip(0, 255) + 0.5).astype("int64")
        cells = fine.reshape(height // FINE, FINE, width // FINE, FINE, 3).sum(axis=(1, 3))
        return ((cells + FINE * FINE // 2) // (FINE * FINE)).astype("uint8")


def blend(first, second, share):
    """A colour between two, for every share from 0 to 1."""
    share = numpy.clip(share, 0, 1)[..., None]
    return numpy.asarray(first) * (1 - share) + numpy.asarray(second) * share


def wave(at):
    """A smooth wave of period 1 between -1 and 1."""
    phase = 2 * numpy.abs(2 * (at - numpy.floor(at)) - 1) - 1
    return phase * (1.5 - 0.5 * phase * phase)


def rough(at, seed, steps):
    """A line of mountains: random heights at every 64, 32, 16, ... places, summed."""
    chance = numpy.random.default_rng(seed)
    height, size = numpy.zeros_like(at), 1.0
    for step in steps:
        knots = chance.integers(-1000, 1001, 512) / 1000
        place = at / step
        left = numpy.floor(place).astype(int)
        share = place - left
        height += size * (knots[left % 512] * (1 - share) + knots[(left + 1) % 512] * share)
        size *= 0.48
    return height


def sky(canvas, horizon):
    height = canvas.y / horizon
    colours = blend((38, 84, 160), (140, 184, 226), height * 1.5)
    colours = numpy.where((height > 0.66)[..., None], blend((140, 184, 226), (255, 218, 172), height * 3 - 2), colours)
    canvas.paint(canvas.y < horizon, colours)
    distance = numpy.sqrt((canvas.x - 88) ** 2 + (canvas.y - 86) ** 2)
    canvas.paint(distance < 90, (255, 232, 180), numpy.clip(1 - distance / 90, 0, 1) ** 2 * 0.75)
    canvas.paint(distance < 13, (255, 249, 222))
    for x, y, size in [(36, 34, 15), (196, 26, 19), (292, 58, 13), (136, 52, 9)]:
        for dx, dy, part in [(-1.3, 0.25, 0.6), (-0.4, -0.15, 0.9), (0.6, 0.0, 0.75), (1.5, 0.3, 0.5)]:
            across = (canvas.x - x - dx * size) / (part * size * 1.4)
            puff = across ** 2 + ((canvas.y - y - dy * size) / (part * size * 0.6)) ** 2
            canvas.paint(puff < 1, (255, 250, 244), numpy.clip(1 - puff, 0, 1) * 0.85)


def mountains(canvas, horizon):
    for seed, base, tall, near, far, snow in [(5, 100, 34, (104, 124, 166), (164, 176, 206), 78),
                                             (11, 122, 26, (72, 98, 118), (120, 144, 156), 0),
                                             (23, 138, 16, (52, 92, 72), (88, 128, 92), 0)]:
        ridge = base + tall * rough(canvas.x + 40, seed, (56, 28, 14, 7, 3.5))
        below = (canvas.y > ridge) & (canvas.y < horizon)
        canvas.paint(below, blend(near, far, (canvas.y - base + tall) / (2.4 * tall)))
        light = rough(canvas.x * 1.7 + canvas.y * 1.1, seed + 1, (17, 8, 4))
        canvas.paint(below & (light > 0.25), near, 0.45)
        if snow:
            limit = snow + 6 * rough(canvas.x * 2, seed + 2, (9, 4, 2))
            canvas.paint(below & (canvas.y < limit), (244, 247, 252))
            canvas.paint(below & (canvas.y < limit) & (light > 0.1), (190, 204, 230))


def meadow(canvas, horizon):
    canvas.paint(canvas.y >= horizon, blend((122, 160, 70), (54, 104, 40), (canvas.y - horizon) / 90))
    chance = numpy.random.default_rng(3)
    for _ in range(900):  # blades of grass, the nearer the taller
        y = horizon + 6 + 84 * chance.integers(0, 1001) / 1000
        x, lean = 320 * chance.integers(0, 1001) / 1000, chance.integers(-100, 101) / 60
        tall = 2 + (y - horizon) / 9
        colour = blend((70, 122, 44), (178, 200, 96), numpy.array(chance.integers(0, 101) / 100))
        place = canvas.part(x - 2, y - tall, x + 2, y)
        place.paint(place.polygon((x - 0.5, y), (x + lean, y - tall), (x + 0.5, y)), colour)
    for _ in range(130):
        y = horizon + 16 + 70 * chance.integers(0, 1001) / 1000
        x, size = 320 * chance.integers(0, 1001) / 1000, 0.5 + (y - horizon) / 70
        colour = [(236, 72, 64), (250, 214, 70), (246, 246, 250), (172, 96, 200)][chance.integers(0, 4)]
        place = canvas.part(x - size, y - size, x + size, y + size)
        place.paint(place.ellipse(x, y, size, size * 0.8), colour)
    middle = 246 - (canvas.y - 178) * 0.75 + 5 * wave((canvas.y - 178) / 70)
    path = (canvas.y > 178) & (numpy.abs(canvas.x - middle) < 4 + (canvas.y - 178) * 0.32)
    stones = rough(canvas.x * 2 + canvas.y, 31, (5, 2)) + rough(canvas.x - canvas.y * 3, 32, (6, 3))
    canvas.paint(path, blend((196, 172, 132), (226, 206, 170), stones * 0.6 + 0.5))


def house(canvas):
    canvas.paint(canvas.box(264, 84, 273, 112), (150, 78, 62))
    canvas.paint(canvas.box(262, 82, 275, 86), (112, 58, 48))
    walls = canvas.box(202, 124, 292, 180)
    canvas.paint(walls, blend((250, 240, 214), (224, 204, 170), (canvas.x - 202) / 90))
    canvas.paint(walls & ((canvas.y - 124) % 4 < 0.7), (206, 186, 152))
    canvas.paint(canvas.box(202, 172, 292, 180), (146, 138, 130))
    joints = (canvas.x + 4 * ((canvas.y - 172) // 4 % 2)) % 9 < 0.8
    canvas.paint(canvas.box(202, 172, 292, 180) & joints, (104, 98, 94))
    roof = canvas.polygon((194, 128), (216, 92), (278, 92), (300, 128))
    canvas.paint(roof, blend((196, 84, 62), (152, 54, 46), (canvas.y - 92) / 36))
    shingle = (canvas.x + 3 * ((canvas.y - 92) // 4 % 2)) % 6
    canvas.paint(roof & (((canvas.y - 92) % 4 < 0.8) | (shingle < 0.7)), (112, 38, 36))
    canvas.paint(canvas.box(194, 126, 300, 129), (98, 62, 48))
    for left in (210, 266):
        canvas.paint(canvas.box(left - 2, 136, left + 20, 160), (255, 255, 250))
        shine = blend((86, 128, 176), (196, 224, 240), (canvas.x - left + canvas.y - 138) / 38)
        canvas.paint(canvas.box(left, 138, left + 18, 158), shine)
        canvas.paint(canvas.box(left + 8, 138, left + 10, 158) | canvas.box(left, 147, left + 18, 149), (255, 255, 250))
        for side in (left - 8, left + 20):
            shutter = canvas.box(side, 135, side + 6, 161)
            canvas.paint(shutter, (38, 110, 96))
            canvas.paint(shutter & ((canvas.y - 135) % 2 < 0.8), (20, 72, 64))
    canvas.paint(canvas.box(238, 140, 256, 180) | canvas.ellipse(247, 141, 9, 7), (255, 255, 250))
    canvas.paint(canvas.box(240, 142, 254, 180) | canvas.ellipse(247, 142, 7, 5), (120, 70, 40))
    canvas.paint(canvas.box(240, 142, 254, 180) & ((canvas.x - 240) % 3.5 < 0.6), (82, 46, 28))
    canvas.paint(canvas.ellipse(251, 162, 1.2, 1.2), (250, 210, 90))
    for i in range(6):  # smoke
        canvas.paint(canvas.ellipse(268 + i * i * 0.9, 76 - i * 8, 3 + i * 1.5, 3 + i), (250, 250, 250), 0.5 - i * 0.06)


def tree(canvas):
    trunk = numpy.abs(canvas.x - 48 - 2 * wave(canvas.y / 90)) < 4.5 + numpy.clip(canvas.y - 176, 0, 20) ** 2 / 50
    trunk &= (canvas.y > 118) & (canvas.y < 192)
    canvas.paint(trunk, blend((124, 88, 56), (66, 44, 30), (canvas.x - 42) / 13))
    canvas.paint(trunk & (rough(canvas.x * 4, 41, (3, 1.5)) > 0.3), (58, 38, 26))
    chance = numpy.random.default_rng(8)
    for i in range(520):  # leaves: dark ones first, light ones above
        while True:
            dx, dy = chance.integers(-1000, 1001, 2) / 1000
            if dx * dx + dy * dy < 1:
                break
        x, y = 48 + 40 * dx, 104 + 36 * dy * (1 - 0.15 * dx)
        light = 0.5 - 0.28 * dx - 0.3 * dy + chance.integers(-100, 101) / 400 + i / 2600 - 0.1
        colour = blend((22, 66, 34), (158, 196, 72), numpy.array(light))
        size = 3.6 - 1.8 * i / 520
        place = canvas.part(x - size, y - size, x + size, y + size)
        place.paint(place.ellipse(x, y, size, size * 0.72), colour)
    for x, y in [(28, 100), (60, 84), (72, 112), (40, 122), (52, 104), (22, 118)]:
        canvas.paint(canvas.ellipse(x, y, 2.3, 2.3), (214, 44, 42))
        canvas.paint(canvas.ellipse(x - 0.7, y - 0.8, 0.7, 0.7), (255, 190, 170))


def balloon(canvas):
    x, y = 160, 66
    across, down = (canvas.x - x) / 23, (canvas.y - y) / 27
    skin = across ** 2 + down ** 2 < 1
    skin |= canvas.polygon((x - 21.5, y + 9), (x + 21.5, y + 9), (x + 5, y + 36), (x - 5, y + 36))
    bulge = numpy.sqrt(numpy.clip(1 - down * down * 0.92, 0.03, 1))
    stripe = numpy.floor(numpy.clip(across / bulge, -0.99, 0.99) * 4.5 + 4.5).astype(int) % 3
    canvas.paint(skin, numpy.array([(226, 52, 48), (250, 202, 60), (36, 102, 186)])[stripe])
    canvas.paint(skin & (numpy.abs(canvas.y - y) < 4), (248, 248, 244))
    canvas.paint(skin & (numpy.abs(canvas.y - y) < 4) & ((canvas.x - x + canvas.y) % 6 < 3), (54, 54, 66))
    canvas.paint(skin, (30, 20, 60), numpy.clip(across + 0.1, 0, 1) ** 2 * 0.45)
    glow = canvas.ellipse(x - 9, y - 10, 7, 11)
    canvas.paint(glow, (255, 255, 255), 0.25)
    for side in (-4, 4):
        canvas.paint(canvas.box(x + side - 0.3, y + 36, x + side + 0.3, y + 45), (70, 50, 40))
    basket = canvas.box(x - 5, y + 45, x + 5, y + 52)
    canvas.paint(basket, (146, 98, 54))
    canvas.paint(basket & (((canvas.x - x) % 2 < 0.7) | ((canvas.y - y) % 2 < 0.7)), (98, 62, 32))


def fence(canvas):
    for y in (194, 206):
        canvas.paint(canvas.box(0, y, 176, y + 3), (222, 218, 208))
        canvas.paint(canvas.box(0, y + 2.2, 176, y + 3), (150, 144, 138))
    for x in range(4, 176, 11):
        canvas.paint(canvas.polygon((x, 190), (x + 3, 184), (x + 6, 190), (x + 6, 218), (x, 218)), (246, 243, 236))
        canvas.paint(canvas.box(x + 4.8, 190, x + 6, 218), (172, 166, 160))


LETTERS = {"C": "0111 1000 1000 1000 0111", "U": "1001 1001 1001 1001 0110",
           "D": "1110 1001 1001 1001 1110", "A": "0110 1001 1111 1001 1001"}


def sign(canvas):
    """A board on a post, with stripes that grow finer from left to right."""
    canvas.paint(canvas.box(120, 176, 125, 226), (110, 74, 46))
    canvas.paint(canvas.box(96, 150, 150, 180), (92, 60, 38))
    canvas.paint(canvas.box(97.5, 151.5, 148.5, 178.5), (250, 246, 232))
    for i, letter in enumerate("CUDA"):
        for row, bits in enumerate(LETTERS[letter].split()):
            for column, bit in enumerate(bits):
                if bit == "1":
                    left, top = 101 + i * 12 + column * 2.25, 154.5 + row * 2.25
                    canvas.paint(canvas.box(left, top, left + 2.25, top + 2.25), (30, 34, 44))
    left = 101.0
    for step in (3, 2.5, 2, 2, 1.5, 1.5, 1.5, 1, 1, 1, 1, 1, 1, 0.75, 0.75, 0.75, 0.75):
        canvas.paint(canvas.box(left, 168.5, left + step, 176), (30, 34, 44))
        left += 2 * step


def scene():
    canvas, horizon = Canvas.blank(240, 320), 150
    sky(canvas.part(0, 0, 320, horizon), horizon)
    mountains(canvas.part(0, 40, 320, horizon), horizon)
    meadow(canvas.part(0, horizon, 320, 240), horizon)
    balloon(canvas.part(130, 30, 190, 120))
    house(canvas.part(190, 20, 320, 182))
    tree(canvas.part(0, 60, 100, 195))
    fence(canvas.part(0, 180, 180, 220))
    sign(canvas.part(94, 148, 152, 228))
    return canvas.finished()


def colour_chart():
    """Ramps of the primary colours, a wheel of hues, and patches with their edges: 160 x 240."""
    chart = numpy.full((160, 240, 3), 255, "uint8")
    ramp = numpy.arange(240) * 255 // 239
    tints = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 1, 1)]
    for i, tint in enumerate(tints):
        chart[i * 10:i * 10 + 10] = ramp[:, None] * numpy.array(tint)
    hue = numpy.arange(240) * 6 * 256 // 240
    wheel = numpy.stack([abs(hue - 768) - 256, 512 - abs(hue - 512), 512 - abs(hue - 1024)], axis=-1)
    light = numpy.arange(30)[:, None, None]
    chart[70:100] = wheel.clip(0, 255) * light // 29
    patches = [(115, 82, 68), (194, 150, 130), (98, 122, 157), (87, 108, 67), (133, 128, 177), (103, 189, 170),
               (214, 126, 44), (80, 91, 166), (193, 90, 99), (94, 60, 108), (157, 188, 64), (224, 163, 46)]
    for i, patch in enumerate(patches):
        top, left = 100 + i // 6 * 20, i % 6 * 40
        chart[top:top + 20, left:left + 40] = patch
    for i in range(12):  # the same lightness steps as bars of gray, and stripes of 1 to 6 pixels
        chart[140:150, i * 20:i * 20 + 20] = i * 255 // 11
    for i in range(6):
        columns = numpy.arange(40) // (i + 1) % 2 * 255
        chart[150:160, i * 40:i * 40 + 40] = columns[:, None]
    return chart


def rings():
    """Rings that grow finer, with colours in between; both sides odd."""
    rows, columns = numpy.mgrid[0:67, 0:113]
    square = (rows - 33) ** 2 + (columns - 56) ** 2
    light = numpy.floor(127.5 + 110 * wave(square / 420) + 0.5)
    colours = [light, light * (columns + 20) // 133, 255 - light * (rows + 40) // 107]
    return numpy.stack(colours, axis=-1).clip(0, 255).astype("uint8")


def badge():
    """A disc of colours on nothing: its edge fades, its corners are transparent."""
    rows, columns = numpy.mgrid[0:64, 0:64]
    distance = numpy.sqrt((rows - 31.5) ** 2 + (columns - 31.5) ** 2)
    alpha = numpy.floor(numpy.clip(30 - distance, 0, 12) * 255 / 12 + 0.5)
    return numpy.stack([columns * 4 + 2, rows * 4 + 2, 255 - columns * 2 - rows * 2, alpha], axis=-1).astype("uint8")


def pictures():
    """Every picture of the folder: its file's name -> its pixels."""
    drawn = scene()
    weights = numpy.array([299, 587, 114])
    return {
        "scene.png": drawn,
        "scene.jpg": drawn,
        "gray.png": ((drawn[60:180, 140:320] * weights).sum(axis=-1) + 500).astype("int64") // 1000,
        "colour_chart.png": colour_chart(),
        "odd.png": rings(),
        "rgba.png": badge(),
        "one_pixel.png": numpy.array([[[200, 100, 50]]]),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    for name, pixels in pictures().items():
        options = {"quality": 90} if name.endswith(".jpg") else {"optimize": True}
        Image.fromarray(pixels.astype("uint8")).save(folder / name, **options)
        print(f"{name}: {pixels.shape[0]} x {pixels.shape[1]} pixels, {(folder / name).stat().st_size} bytes")
