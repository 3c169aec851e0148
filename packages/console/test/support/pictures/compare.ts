import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

/** Pictures are kept at half their size, with 32 steps of each color: a page takes some 20 kB, and can be looked at. */
const SHRINK = 2;
const CHANNELS = 4;
const STEP = 8;

/** The side of the squares in which differences are counted, in pixels of a kept picture. */
const SQUARE = 24;

/** How much two pictures of the same page may differ. */
export interface Tolerance {
  /** How much a pixel may differ before it counts, from 0 to 1. */
  threshold: number;
  /** How many pixels of one square may count: what moved differs in one place, edges of letters a little everywhere. */
  pixels: number;
}

/** A button or a line of text that moved by a pixel differs more. */
export const SAME_BROWSER: Tolerance = { threshold: 0.12, pixels: 8 };
/** Another version of the browser draws the edges of letters otherwise. What moved by two pixels differs more. */
export const ANOTHER_BROWSER: Tolerance = { threshold: 0.3, pixels: 12 };

/** A picture of the screen as it is kept: half as wide and high, with fewer colors. */
export function shrunk(screen: Buffer): PNG {
  const { width, height, data } = PNG.sync.read(screen);
  const to = new PNG({ width: Math.floor(width / SHRINK), height: Math.floor(height / SHRINK) });
  const row = width * CHANNELS;
  for (let y = 0, at = 0; y < to.height; y++)
    for (let x = 0, from = y * SHRINK * row; x < to.width; x++, from += SHRINK * CHANNELS) {
      for (let channel = 0; channel < CHANNELS - 1; channel++, at++) {
        const first = from + channel;
        const below = first + row;
        const pair = (start: number): number => data.readUInt8(start) + data.readUInt8(start + CHANNELS);
        const sum = pair(first) + pair(below);
        to.data[at] = Math.min(255, Math.round(sum / SHRINK ** 2 / STEP) * STEP);
      }
      to.data[at++] = 255;
    }
  return to;
}

/** The file of a kept picture. */
export function fileOf(picture: PNG): Buffer {
  return PNG.sync.write(picture, { colorType: 2, deflateLevel: 9 });
}

/**
 * Compares a kept picture with that of now. Undefined when they show the same; otherwise what differs in words, and a
 * picture of it in red.
 */
export function difference(
  accepted: Buffer,
  now: PNG,
  { threshold, pixels }: Tolerance,
): { words: string; picture: Buffer } | undefined {
  const before = PNG.sync.read(accepted);
  const { width, height } = now;
  if (before.width !== width || before.height !== height)
    return { words: `${before.width} x ${before.height} became ${width} x ${height}`, picture: fileOf(now) };
  const mask = new PNG({ width, height });
  const all = pixelmatch(before.data, now.data, mask.data, width, height, { threshold, diffMask: true });
  if (all <= pixels || densest(mask) <= pixels) return undefined;
  const drawn = new PNG({ width, height });
  pixelmatch(before.data, now.data, drawn.data, width, height, { threshold });
  return { words: `${all} of ${width * height} pixels`, picture: PNG.sync.write(drawn) };
}

/** How many pixels differ in the square with the most of them. The mask has those that differ in red. */
function densest({ width, height, data }: PNG): number {
  const across = Math.ceil(width / SQUARE);
  const counts = new Uint32Array(across * Math.ceil(height / SQUARE));
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at += CHANNELS)
      // Edges that pixelmatch leaves out are yellow.
      if (data[at + 3] !== 0 && data[at + 1] === 0) {
        const square = Math.floor(y / SQUARE) * across + Math.floor(x / SQUARE);
        counts[square] = (counts[square] ?? 0) + 1;
      }
  return Math.max(...counts);
}
