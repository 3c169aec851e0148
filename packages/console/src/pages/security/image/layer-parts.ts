/** A layer with its size in bytes and the command that made it; empty where none is stated. */
export interface SizedLayer {
  digest: string;
  size: number;
  command: string;
}

/** A part of a bar. */
interface Part {
  x: number;
  width: number;
}

const GAP = 3;
const MIN = 4;
/** No more are drawn: anybody may push a manifest with thousands of layers. */
const MAX_PARTS = 120;

/** The places of layers in a bar of that width: as wide as they are large, and never too narrow to be seen. */
export function layerParts(layers: readonly SizedLayer[], width: number): Part[] {
  const drawn = layers.slice(0, MAX_PARTS);
  const total = drawn.reduce((sum, { size }) => sum + size, 0);
  const space = width - GAP * Math.max(drawn.length - 1, 0) - MIN * drawn.length;
  const parts: Part[] = [];
  let x = 0;
  for (const { size } of drawn) {
    const own = MIN + (total === 0 ? space / drawn.length : (space * size) / total);
    parts.push({ x: rounded(x), width: rounded(own) });
    x += own + GAP;
  }
  return parts;
}

const rounded = (value: number): number => Math.round(value * 100) / 100;
