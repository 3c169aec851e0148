import { createHash, hash } from "node:crypto";
import { MANIFEST } from "./registries.ts";
import { tarHeader } from "./tar.ts";

/** Content with its digest. */
export interface Content {
  digest: string;
  bytes: Buffer<ArrayBuffer>;
}

/** An image as a client has it before it pushes: the layers, the config, the manifest. */
export interface PreparedImage {
  layers: Content[];
  config: Content;
  manifest: Content;
}

export const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar";
const TAR_BLOCK = 512;
const FILE_MODE = 0o644;

const texts = new Map<number, string>();

/** Incompressible text, the same for the same length. */
export function textOf(length: number): string {
  const known = texts.get(length);
  if (known !== undefined) return known;
  let made = "";
  for (let at = 0; made.length < length; at += 1)
    made += createHash("sha256").update(`moorage ${at}`).digest("base64url");
  made = made.slice(0, length);
  texts.set(length, made);
  return made;
}

/**
 * A layer of so many bytes, a multiple of a tar block and at least four: an archive with one package of npm, whose
 * description says the name.
 */
function layerOf(name: string, index: number, length: number): Buffer<ArrayBuffer> {
  const size = length - 3 * TAR_BLOCK;
  const start = `{"name":"package-${index}","version":"1.0.0","description":"${name} `;
  const bytes = Buffer.alloc(length);
  tarHeader({ path: `app/node_modules/package-${index}/package.json`, mode: FILE_MODE, size }).copy(bytes);
  bytes.write(`${start}${textOf(size - start.length - 2)}"}`, TAR_BLOCK, "latin1");
  return bytes;
}

export function contentOf(bytes: Buffer<ArrayBuffer>): Content {
  return { digest: `sha256:${hash("sha256", bytes, "hex")}`, bytes };
}

/** An image of so many layers of so many bytes. Each name gives other bytes, in every layer. */
export function prepareImage(name: string, layers: number, layerBytes: number): PreparedImage {
  const made = Array.from({ length: layers }, (_, index) => contentOf(layerOf(name, index, layerBytes)));
  const config = contentOf(
    Buffer.from(
      JSON.stringify({
        architecture: "amd64",
        os: "linux",
        config: { Env: ["PATH=/usr/local/bin:/usr/bin:/bin"], Labels: { build: name } },
        rootfs: { type: "layers", diff_ids: made.map(({ digest }) => digest) },
      }),
    ),
  );
  const described = (mediaType: string, { digest, bytes }: Content): object => ({
    mediaType,
    digest,
    size: bytes.length,
  });
  const manifest = contentOf(
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: described(CONFIG, config),
        layers: made.map((layer) => described(LAYER, layer)),
      }),
    ),
  );
  return { layers: made, config, manifest };
}
