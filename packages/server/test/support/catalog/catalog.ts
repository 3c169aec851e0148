import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { catalogImage } from "../../../../security/src/security/catalog/catalog-image.ts";
import type { Catalog, CatalogLimits } from "../../../../security/src/security/catalog/types.ts";
import { type TarEntry, tarOf } from "./archives.ts";

/** A layer: its entries, or the bytes of its archive. */
export type TestLayer = readonly TarEntry[] | Uint8Array;

/** The catalog of an image of these layers, `layer-0` the lowest. Fails when a temporary file is left. */
export async function catalogOf(
  layers: readonly TestLayer[],
  options: { limits?: Partial<CatalogLimits>; signal?: AbortSignal; chunkBytes?: number } = {},
): Promise<Catalog> {
  const tempDir = mkdtempSync(join(tmpdir(), "moorage-catalog-"));
  const { chunkBytes = 64 * 1024, ...rest } = options;
  try {
    return await catalogImage({
      tempDir,
      ...rest,
      layers: layers.map((layer, n) => ({
        digest: `layer-${n}`,
        open: () => Readable.from(pieces(layer instanceof Uint8Array ? layer : tarOf(layer), chunkBytes)),
      })),
    });
  } finally {
    assert.deepEqual(readdirSync(tempDir), [], "temporary files are left");
    rmSync(tempDir, { recursive: true });
  }
}

function* pieces(bytes: Uint8Array, length: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** The purls of a catalog, in its order. */
export async function purlsOf(...layers: TestLayer[]): Promise<string[]> {
  return (await catalogOf(layers)).components.map(({ purl }) => purl);
}

/** An npm package at a path in the image. */
export function npmFile(folder: string, name: string, version: string): TarEntry {
  return { path: `${folder}/node_modules/${name}/package.json`, content: JSON.stringify({ name, version }) };
}
