// Degrees into metres around a place, and metres into the pixels of a picture.

/** The narrowest and the widest view: pixels a metre. At 0.05 a campus of 20 km fits, at 60 a step is a thumb wide. */
const scales = { minimum: 0.05, maximum: 60 };

/** Metres east and north of a place; within 500 m and up to 60° of latitude it is off by less than 10 cm. */
export class Frame {
  constructor(latitude, longitude) {
    this.latitude = latitude;
    this.longitude = longitude;
    const angle = latitude * Math.PI / 180;
    // How long a degree is on the ellipsoid WGS 84, as a series of cosines.
    this.north = 111132.954 - 559.822 * Math.cos(2 * angle) + 1.175 * Math.cos(4 * angle);
    this.east = 111412.84 * Math.cos(angle) - 93.5 * Math.cos(3 * angle) + 0.118 * Math.cos(5 * angle);
  }

  /** Metres east of the place. */
  x(longitude) {
    return (longitude - this.longitude) * this.east;
  }

  /** Metres north of the place. */
  y(latitude) {
    return (latitude - this.latitude) * this.north;
  }
}

/** What part of a floor a picture shows: `scale` pixels a metre, `x` and `y` metres in its middle. */
export class Viewport {
  width = 1;
  height = 1;
  scale = 1;
  x = 0;
  y = 0;

  /** Whether the user has moved it since it last showed the whole. */
  isMoved = false;

  /** Shows all of `{ left, right, bottom, top }`. */
  showAll(bounds, margin = 28) {
    const across = Math.max(8, bounds.right - bounds.left);
    const up = Math.max(8, bounds.top - bounds.bottom);
    const room = { width: Math.max(40, this.width - 2 * margin), height: Math.max(40, this.height - 2 * margin) };
    this.scale = this.#held(Math.min(room.width / across, room.height / up));
    this.x = (bounds.left + bounds.right) / 2;
    this.y = (bounds.bottom + bounds.top) / 2;
    this.isMoved = false;
  }

  /** Zooms so that what is under a pixel stays there. */
  zoom(factor, atX = this.width / 2, atY = this.height / 2) {
    const [x, y] = [this.metresX(atX), this.metresY(atY)];
    this.scale = this.#held(this.scale * factor);
    this.x += x - this.metresX(atX);
    this.y += y - this.metresY(atY);
    this.isMoved = true;
  }

  /** Moves what is shown by so many pixels. */
  pan(right, down) {
    this.x -= right / this.scale;
    this.y += down / this.scale;
    this.isMoved = true;
  }

  /** Moves just so far that a place is within a part of the picture, `{ left, right, top, bottom }` in pixels. */
  reveal(x, y, { left, right, top, bottom }) {
    const [atX, atY] = [this.pixelX(x), this.pixelY(y)];
    this.x += (atX - Math.max(left, Math.min(right, atX))) / this.scale;
    this.y -= (atY - Math.max(top, Math.min(bottom, atY))) / this.scale;
  }

  pixelX(x) {
    return this.width / 2 + (x - this.x) * this.scale;
  }

  pixelY(y) {
    return this.height / 2 - (y - this.y) * this.scale;
  }

  metresX(pixel) {
    return this.x + (pixel - this.width / 2) / this.scale;
  }

  metresY(pixel) {
    return this.y - (pixel - this.height / 2) / this.scale;
  }

  /** Whether a place is within the picture, or at most so many metres outside. */
  shows(x, y, metres = 0) {
    const reach = metres + 4 / this.scale;
    return Math.abs(x - this.x) <= this.width / 2 / this.scale + reach &&
      Math.abs(y - this.y) <= this.height / 2 / this.scale + reach;
  }

  #held(scale) {
    return Math.min(scales.maximum, Math.max(scales.minimum, scale));
  }
}

/** The rectangle around rectangles or places; null without any. */
export function around(shapes) {
  let found = null;
  for (const shape of shapes) {
    const { left = shape.x, right = shape.x, bottom = shape.y, top = shape.y } = shape;
    found ??= { left, right, bottom, top };
    found.left = Math.min(found.left, left);
    found.right = Math.max(found.right, right);
    found.bottom = Math.min(found.bottom, bottom);
    found.top = Math.max(found.top, top);
  }
  return found;
}
