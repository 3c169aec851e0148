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
const LAYER = "application/vnd.oci.image.layer.v1.tar+gzip";

const templates = new Map<number, Buffer>();

/** Incompressible bytes, the same for the same length. */
function template(length: number): Buffer {
  const known = templates.get(length);
  if (known) return known;
  const parts: Buffer[] = [];
  for (let at = 0; at * 32 < length; at += 1) parts.push(createHash("sha256").update(`moorage ${at}`).digest());
  const made = Buffer.concat(parts).subarray(0, length);
  templates.set(length, made);
  return made;
}

function contentOf(bytes: Buffer): Content {
  return { digest: `sha256:${hash("sha256", bytes, "hex")}`, bytes };
}

/** An image of so many layers of so many bytes. Each name gives other bytes, in every layer. */
export function prepareImage(name: string, layers: number, layerBytes: number): PreparedImage {
  const made = Array.from({ length: layers }, (_, index) => {
    const bytes = Buffer.from(template(layerBytes));
    bytes.write(`${name} ${index} `, "latin1");
    return contentOf(bytes);
  });
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
