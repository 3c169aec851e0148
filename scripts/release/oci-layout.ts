// An image layout of OCI as a folder. Source: image-spec, image-layout.md.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** What points to a blob. */
export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  platform?: { architecture: string; os: string };
  annotations?: Readonly<Record<string, string>>;
}

/** A layout that is being written. */
export interface Layout {
  /** Writes a blob, which is JSON when it is not bytes. */
  add(mediaType: string, content: Uint8Array | object): Descriptor;
  /** Writes the index: what it names is found by that tag. */
  finish(descriptor: Descriptor, tag: string): void;
}

/** Begins a layout in an empty folder. */
export function layoutIn(folder: string): Layout {
  const blobs = join(folder, "blobs/sha256");
  mkdirSync(blobs, { recursive: true });
  writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  return {
    add(mediaType, content) {
      const bytes = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
      const hex = createHash("sha256").update(bytes).digest("hex");
      writeFileSync(join(blobs, hex), bytes);
      return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
    },
    finish(descriptor, tag) {
      const manifests = [{ ...descriptor, annotations: { "org.opencontainers.image.ref.name": tag } }];
      const mediaType = "application/vnd.oci.image.index.v1+json";
      writeFileSync(join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
    },
  };
}
