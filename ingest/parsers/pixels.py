"""Any picture as three 8-bit channels on a plain background."""

from __future__ import annotations

from PIL import Image, ImageStat

_BRIGHT = 160
DAMAGE = (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError, KeyError, MemoryError)
"""What Pillow raises for damaged pictures, depending on the format."""


def to_rgb(picture: Image.Image) -> Image.Image:
    """Return a picture as RGB: deep and floating tones are spread over 8 bits, transparency is filled.

    The background behind transparent parts is white, or black where what is opaque is bright, so that
    white letters on nothing stay readable.
    """
    if picture.mode.startswith("I") or picture.mode == "F":
        picture = _eight_bits(picture)
    if picture.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in picture.info:
        return _flattened(picture.convert("RGBA"))
    return picture.convert("RGB")


def _eight_bits(picture: Image.Image) -> Image.Image:
    low, high = picture.convert("F").getextrema()
    assert isinstance(low, float)
    assert isinstance(high, float)
    span = max(high - low, 1e-9)
    return picture.convert("F").point(lambda tone: (tone - low) * (255.0 / span)).convert("L")


def _flattened(picture: Image.Image) -> Image.Image:
    alpha = picture.getchannel("A")
    opaque = ImageStat.Stat(picture.convert("L"), mask=alpha.point(lambda value: 255 if value > 127 else 0))
    bright = opaque.count[0] > 0 and opaque.mean[0] > _BRIGHT
    background = Image.new("RGBA", picture.size, "black" if bright else "white")
    background.alpha_composite(picture)
    return background.convert("RGB")
