import { createHash, hash } from "node:crypto";
import { MANIFEST } from "./registries.ts";

/** Content with its digest. */
export interface Content {
  digest: string;
  bytes: Buffer;
}

/** An image as a client has it before it pushes: the layers, the config, the manifest. */
export interface PreparedImage {
  layers: Content[];
  config: Content;
  manifest: Content;
}

const CONFIG = "application/vnd.oci.image.config.v1+json";
const LAYER = "application/vnd.oci.image.layer.v1.tar";
const TAR_BLOCK = 512;
const FILE_MODE = 0o644;
const TYPE_AT = 156;

const texts = new Map<number, string>();

/** Incompressible text, the same for the same length. */
function textOf(length: number): string {
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
function layerOf(name: string, index: number, length: number): Buffer {
  const size = length - 3 * TAR_BLOCK;
  const start = `{"name":"package-${index}","version":"1.0.0","description":"${name} `;
  const bytes = Buffer.alloc(length);
  bytes.write(`app/node_modules/package-${index}/package.json`, 0, "latin1");
  const octal = (value: number, at: number, digits: number): void => {
    bytes.write(value.toString(8).padStart(digits, "0"), at, "latin1");
  };
  octal(FILE_MODE, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(0, 136, 11);
  bytes.write("0", TYPE_AT, "latin1");
  bytes.write("ustar\u000000", 257, "latin1");
  // The sum is made with the field itself as spaces. Source: POSIX.1, pax, ustar interchange format.
  bytes.write(" ".repeat(8), 148, "latin1");
  let sum = 0;
  for (const byte of bytes.subarray(0, TAR_BLOCK)) sum += byte;
  bytes.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148, "latin1");
  bytes.write(`${start}${textOf(size - start.length - 2)}"}`, TAR_BLOCK, "latin1");
  return bytes;
}

function contentOf(bytes: Buffer): Content {
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
