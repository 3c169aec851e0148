import { bytes, counted } from "../../../lib/bytes.ts";
import { shortDigest } from "../../../lib/digest.ts";
import type { SizedLayer } from "./layer-parts.ts";

/** Something with the layers that it was found in, by their digests; none where that is not known. */
interface Placed {
  layers: readonly string[];
}

/** What a layer lets through, and of how many it is not known. Without a layer all is let through. */
export function inLayer<T>(
  rows: readonly T[],
  layer: string | undefined,
  placed: (row: T) => Placed,
): { rows: readonly T[]; unplaced: number } {
  if (layer === undefined) return { rows, unplaced: 0 };
  const places = rows.map((row) => placed(row).layers);
  return {
    rows: rows.filter((_, at) => places[at]?.includes(layer)),
    unplaced: places.filter((layers) => layers.length === 0).length,
  };
}

const MAX_COMMAND = 40;

/** The layers as they can be chosen: their digests, and what each is, the first one at the bottom. */
export function layerOptions(layers: readonly SizedLayer[]): readonly (readonly [digest: string, label: string])[] {
  // Two layers may have the same content.
  const first = new Map<string, readonly [string, string]>();
  for (const [at, { digest, size, command }] of layers.entries()) {
    const made = command.length > MAX_COMMAND ? `${command.slice(0, MAX_COMMAND)}…` : command;
    const words = [`${at + 1} of ${layers.length}`, bytes(size), made].filter(Boolean).join(", ");
    if (!first.has(digest)) first.set(digest, [digest, words]);
  }
  return [...first.values()];
}

/**
 * What a filter by layer leaves open: that the image has no such layer, that some rows are in no known layer, that not
 * all were read. `known`: the digests of its layers; undefined while they are not known. Empty where all is said.
 */
export function layerNote({
  layer,
  known,
  unplaced,
  word,
  readOnly,
}: {
  layer: string | undefined;
  known: readonly string[] | undefined;
  unplaced: number;
  /** What the rows are: `package`. */
  word: string;
  /** How many were read, where there are more. */
  readOnly?: number | undefined;
}): string {
  if (layer === undefined) return "";
  const parts: string[] = [];
  if (known !== undefined && !known.includes(layer))
    parts.push(`This image has no layer ${shortDigest(layer) || layer}: remove the filter to see everything.`);
  if (unplaced > 0) parts.push(`${counted(unplaced, word)} left out: it is not known in which layer.`);
  if (readOnly !== undefined) parts.push(`Only the first ${counted(readOnly, word)} were read and filtered.`);
  return parts.join(" ");
}
