// The map tiles of a floor as the background of its picture: fetched as they come into view, and kept within a limit.

import { send } from "./api.js";

/** How many tiles are kept, and how many are fetched at a time. */
const maximumTiles = 160;
const maximumFetched = 4;
/** The zooms that are asked for; a closer view shows the largest one enlarged. */
const zooms = { least: 0, most: 22 };
/** How far up a larger tile is looked for while a tile is on its way. */
const ancestors = 5;
const tileSide = 256;
/** The Earth's circumference at the equator on the sphere of the web map, in metres. */
const circumference = 2 * Math.PI * 6378137;

/** The tiles of one floor; `path` is the server's template with {z}, {x} and {y}. */
export class FloorTiles {
  /** Whether the server cannot draw this floor: its outlines are shown then. */
  isBroken = false;
  #tiles = new Map();
  #waiting = [];
  #fetched = new Set();
  #template;
  #onLoad;
  #signal;

  constructor(template, frame, signal, onLoad) {
    this.#template = template;
    /** The frame of the floor's metres. */
    this.frame = frame;
    this.#signal = signal;
    this.#onLoad = onLoad;
  }

  /** Draws the tiles that are in view, and fetches those that are missing. */
  draw(pen, view, density) {
    const zoom = this.#zoomOf(view);
    const size = density > 1.4 ? 512 : tileSide;
    const [west, north] = this.#tileAt(view.metresX(0), view.metresY(0), zoom);
    const [east, south] = this.#tileAt(view.metresX(view.width), view.metresY(view.height), zoom);
    this.#waiting = [];
    const edge = (pixel) => Math.round(pixel * density) / density;
    const middle = [(west + east) / 2, (north + south) / 2];
    for (let y = Math.floor(north); y <= south; y += 1) {
      for (let x = Math.floor(west); x <= east; x += 1) {
        const [left, top] = this.#pixelAt(view, x, y, zoom).map(edge);
        const [right, bottom] = this.#pixelAt(view, x + 1, y + 1, zoom).map(edge);
        this.#drawTile(pen, { zoom, x, y, size }, left, top, right - left, bottom - top);
        const key = keyOf({ zoom, x, y, size });
        if (!this.#tiles.has(key) && !this.#fetched.has(key)) {
          this.#waiting.push({ zoom, x, y, size, far: Math.hypot(x + 0.5 - middle[0], y + 0.5 - middle[1]) });
        }
      }
    }
    this.#waiting.sort((a, b) => a.far - b.far);
    this.#fetch();
  }

  /** Draws a tile, or the part of a larger one while it is on its way. */
  #drawTile(pen, tile, left, top, width, height) {
    for (let up = 0; up <= ancestors; up += 1) {
      const factor = 2 ** up;
      const { zoom, x, y, size } = tile;
      const key = keyOf({ zoom: zoom - up, x: Math.floor(x / factor), y: Math.floor(y / factor), size });
      const known = this.#tiles.get(key);
      if (known === undefined) continue;
      // What is used stays longest.
      this.#tiles.delete(key);
      this.#tiles.set(key, known);
      if (!known) return;
      const part = known.width / factor;
      pen.drawImage(known, (x % factor) * part, (y % factor) * part, part, part, left, top, width, height);
      return;
    }
  }

  #fetch() {
    while (this.#fetched.size < maximumFetched && this.#waiting.length && !this.isBroken) {
      const tile = this.#waiting.shift();
      this.#fetched.add(keyOf(tile));
      this.#load(tile).finally(() => {
        this.#fetched.delete(keyOf(tile));
        if (!this.#signal.aborted) this.#onLoad();
      });
    }
  }

  async #load(tile) {
    const path = this.#template.replace("{z}", tile.zoom).replace("{x}", tile.x).replace("{y}", tile.y);
    try {
      const response = await send(tile.size === tileSide ? path : `${path}?size=${tile.size}`, { signal: this.#signal });
      if (response.status === 204) return this.#keep(tile, null);
      if (!response.ok) throw new Error(`The tile cannot be had: ${response.status}.`);
      this.#keep(tile, await createImageBitmap(await response.blob()));
    } catch {
      if (!this.#signal.aborted) this.isBroken = true;
    }
  }

  #keep(tile, bitmap) {
    this.#tiles.set(keyOf(tile), bitmap);
    for (const [key, old] of this.#tiles) {
      if (this.#tiles.size <= maximumTiles) break;
      this.#tiles.delete(key);
      old?.close();
    }
  }

  /** The zoom whose pixels are nearest to those of the picture. */
  #zoomOf(view) {
    const widest = circumference * Math.cos(this.frame.latitude * Math.PI / 180);
    const zoom = Math.round(Math.log2(view.scale * widest / tileSide));
    return Math.min(zooms.most, Math.max(zooms.least, zoom));
  }

  /** Column and row of the tile at a place in metres, with fractions. */
  #tileAt(x, y, zoom) {
    const count = 2 ** zoom;
    const longitude = this.frame.longitude + x / this.frame.east;
    const latitude = (this.frame.latitude + y / this.frame.north) * Math.PI / 180;
    return [
      (longitude / 360 + 0.5) * count,
      (0.5 - Math.asinh(Math.tan(latitude)) / (2 * Math.PI)) * count,
    ];
  }

  /** The pixel of a tile's north-western corner. */
  #pixelAt(view, x, y, zoom) {
    const count = 2 ** zoom;
    const longitude = (x / count - 0.5) * 360;
    const latitude = Math.atan(Math.sinh((0.5 - y / count) * 2 * Math.PI)) * 180 / Math.PI;
    return [view.pixelX(this.frame.x(longitude)), view.pixelY(this.frame.y(latitude))];
  }
}

function keyOf({ zoom, x, y, size }) {
  return `${zoom}/${x}/${y}/${size}`;
}
