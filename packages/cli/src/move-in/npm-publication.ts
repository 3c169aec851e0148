// The document that publishes one version, as npm sends it. Source: what npm 11 sends.
import { isObject } from "@moorage/kernel/lib/json";
import type { SourcePackage, SourceVersion } from "./packument.ts";

/** What is published. */
export interface Publication {
  package: Pick<SourcePackage, "name" | "readme">;
  version: SourceVersion;
  /** Those that come to point to it. */
  tags: readonly string[];
  chunks: readonly Uint8Array[];
}

const PIECE_BYTES = 3 * 65_536;

/** The document as it goes out: of a tarball no second copy is made. */
export function documentOf(publication: Publication): ReadableStream<Uint8Array> {
  return ReadableStream.from(piecesOf(publication)) as ReadableStream<Uint8Array>;
}

async function* piecesOf({ package: { name, readme }, version, tags, chunks }: Publication): AsyncGenerator<Buffer> {
  const { version: number, manifest } = version;
  const head = {
    _id: name,
    name,
    readme,
    "dist-tags": Object.fromEntries(tags.map((tag) => [tag, number])),
    versions: { [number]: { ...manifest, dist: distOf(manifest) } },
  };
  const file = JSON.stringify(`${name}-${number}.tgz`);
  yield Buffer.from(`${JSON.stringify(head).slice(0, -1)},"_attachments":{${file}:{"data":"`);
  for await (const piece of base64Of(chunks)) yield piece;
  yield Buffer.from('"}}}');
}

/** What of `dist` stays true here. Sums of other kinds than SHA-512 were checked, and are not repeated. */
function distOf({ dist }: Record<string, unknown>): Record<string, unknown> {
  const { tarball: _, integrity, attestations: __, ...kept } = isObject(dist) ? dist : {};
  const isKept = typeof integrity === "string" && integrity.includes("sha512-");
  return { ...kept, ...(isKept && { integrity }) };
}

async function* base64Of(chunks: readonly Uint8Array[]): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0);
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const bytes = Buffer.concat([rest, chunk.subarray(at, at + PIECE_BYTES)]);
      const whole = bytes.length - (bytes.length % 3);
      yield Buffer.from(bytes.toString("base64", 0, whole));
      rest = bytes.subarray(whole);
    }
  yield Buffer.from(rest.toString("base64"));
}
