import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

/** Pictures are kept at half their size, with 32 steps of each color: a page takes some 20 kB, and can be looked at. */
const SHRINK = 2;
const STEP = 8;
/** How much a pixel may differ, from 0 to 1: less than a line of text that moved by a pixel, more than another edge. */
const THRESHOLD = 0.12;
/** The share of pixels that may differ: letters whose edges another version of the browser draws otherwise. */
const TOLERATED = 0.000_1;

/** A picture of the screen as it is kept: half as wide and high, with fewer colors. */
export function kept(screen: Buffer): Buffer {
  const from = PNG.sync.read(screen);
  const to = new PNG({ width: Math.floor(from.width / SHRINK), height: Math.floor(from.height / SHRINK) });
  for (let y = 0; y < to.height; y++)
    for (let x = 0; x < to.width; x++)
      for (let channel = 0; channel < 4; channel++) {
        let sum = 0;
        for (let dy = 0; dy < SHRINK; dy++)
          for (let dx = 0; dx < SHRINK; dx++)
            sum += from.data[((y * SHRINK + dy) * from.width + x * SHRINK + dx) * 4 + channel] ?? 0;
        const mean = sum / SHRINK ** 2;
        to.data[(y * to.width + x) * 4 + channel] = channel === 3 ? 255 : Math.min(255, Math.round(mean / STEP) * STEP);
      }
  return PNG.sync.write(to, { colorType: 2, deflateLevel: 9 });
}

/**
 * Compares two kept pictures. Undefined when they show the same; otherwise what differs in words, and a picture of it
 * in red.
 */
export function difference(accepted: Buffer, now: Buffer): { words: string; picture: Buffer } | undefined {
  const [before, after] = [PNG.sync.read(accepted), PNG.sync.read(now)];
  const { width, height } = after;
  if (before.width !== width || before.height !== height)
    return { words: `${before.width} x ${before.height} became ${width} x ${height}`, picture: now };
  const drawn = new PNG({ width, height });
  const pixels = pixelmatch(before.data, after.data, drawn.data, width, height, { threshold: THRESHOLD });
  if (pixels <= width * height * TOLERATED) return undefined;
  return { words: `${pixels} of ${width * height} pixels`, picture: PNG.sync.write(drawn) };
}
