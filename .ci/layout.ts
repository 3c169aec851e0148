// node .ci/layout.ts FOLDER TEXT: an OCI image layout of one image for two architectures, whose only file holds TEXT.
// It shares no code with Moorage, so that a mistake of ours cannot cancel itself out. Source: OCI image specification v1.1.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

interface Descriptor { mediaType: string; digest: string; size: number; platform?: { os: string; architecture: string } }

const [folder, text] = process.argv.slice(2);
if (folder === undefined || text === undefined) throw new Error("usage: node .ci/layout.ts FOLDER TEXT");
const blobs = join(folder, "blobs", "sha256");
mkdirSync(blobs, { recursive: true });

function put(mediaType: string, content: Buffer): Descriptor {
  const hash = createHash("sha256").update(content).digest("hex");
  writeFileSync(join(blobs, hash), content);
  return { mediaType, digest: `sha256:${hash}`, size: content.length };
}

const put1 = (kind: string, value: object): Descriptor => put(`application/vnd.oci.image.${kind}.v1+json`, Buffer.from(JSON.stringify(value)));

/** A tar archive (ustar) of one file. */
function tar(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(512);
  const octal = (value: number, at: number, length: number) => header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
  header.write(name, 0);
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(content.length, 124, 12);
  octal(0, 136, 12);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257);
  octal(header.reduce((sum, byte) => sum + byte, 0), 148, 7);
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512 + 1024);
  return Buffer.concat([header, content, padding]);
}

function image(architecture: string): Descriptor {
  const archive = tar("greeting.txt", Buffer.from(`${text} on ${architecture}\n`));
  const layer = put("application/vnd.oci.image.layer.v1.tar+gzip", gzipSync(archive));
  const config = put1("config", {
    architecture, os: "linux", config: { Cmd: ["/greeting.txt"] }, created: "2026-01-01T00:00:00Z",
    rootfs: { type: "layers", diff_ids: [`sha256:${createHash("sha256").update(archive).digest("hex")}`] },
    history: [{ created: "2026-01-01T00:00:00Z", created_by: "layout" }],
  });
  const manifest = put1("manifest", { schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", config, layers: [layer] });
  return { ...manifest, platform: { os: "linux", architecture } };
}

const index = put1("index", {
  schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: ["amd64", "arm64"].map(image),
  annotations: { "org.opencontainers.image.title": text },
});
writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
writeFileSync(join(folder, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [{ ...index, annotations: { "org.opencontainers.image.ref.name": "latest" } }] }));
process.stdout.write(`${index.digest}\n`);
