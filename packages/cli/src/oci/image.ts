// Builds a small image that can be run, for two architectures, from generated files. The same build number gives the
// same bytes.
import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pack } from "tar-stream";
import { linuxProgram, type Architecture } from "./program.ts";

/** Media types of the OCI image specification 1.1. */
export const MEDIA_TYPE = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
} as const;

/** Bytes with their digest (`sha256:<hex>`) and media type. */
export type Content = { readonly mediaType: string; readonly digest: string; readonly bytes: Buffer };

/** One image of one architecture: its manifest, and what that references. */
type PlatformImage = {
  readonly architecture: Architecture;
  readonly blobs: readonly Content[];
  readonly manifest: Content;
};

/** An image for several architectures: the images and the index that names them. */
export type MultiImage = { readonly images: readonly PlatformImage[]; readonly index: Content };

const ARCHITECTURES: readonly Architecture[] = ["amd64", "arm64"];

/** The digest of bytes in OCI's form: `sha256:<hex>`. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

function content(mediaType: string, bytes: Buffer): Content {
  return { mediaType, digest: digestOf(bytes), bytes };
}

function jsonContent(mediaType: string, value: object): Content {
  return content(mediaType, Buffer.from(JSON.stringify(value)));
}

/** An OCI descriptor of a piece of content. */
export function descriptor(piece: Content): { mediaType: string; digest: string; size: number } {
  return { mediaType: piece.mediaType, digest: piece.digest, size: piece.bytes.length };
}

type LayerFile = { readonly name: string; readonly mode: number; readonly bytes: Buffer };

async function tarOf(files: readonly LayerFile[]): Promise<Buffer> {
  const archive = pack();
  for (const { name, mode, bytes } of files) archive.entry({ name, mode, mtime: new Date(0), uid: 0, gid: 0 }, bytes);
  archive.finalize();
  return buffer(archive);
}

function packageFile(name: string, version: string): Buffer {
  return Buffer.from(JSON.stringify({ name, version, license: "Apache-2.0" }));
}

async function buildPlatform(architecture: Architecture, build: number): Promise<PlatformImage> {
  const greeting = `Ahoy from build ${build} on ${architecture}.\n`;
  const layers = [
    [{ name: "hello", mode: 0o755, bytes: linuxProgram(architecture, greeting) }],
    [
      { name: "etc/hello/about.txt", mode: 0o644, bytes: Buffer.from(`A sample image of Moorage, build ${build}.\n`) },
      // A package, so that there is something to catalog.
      { name: "usr/lib/node_modules/hello/package.json", mode: 0o644, bytes: packageFile("hello", `1.${build}.0`) },
    ],
  ];
  const tars = await Promise.all(layers.map(tarOf));
  const layerBlobs = await Promise.all(tars.map(async (tar) => content(MEDIA_TYPE.layer, await promisify(gzip)(tar))));
  const config = jsonContent(MEDIA_TYPE.config, {
    created: "1970-01-01T00:00:00Z",
    architecture,
    os: "linux",
    config: { Entrypoint: ["/hello"], Labels: { "org.opencontainers.image.version": String(build) } },
    rootfs: { type: "layers", diff_ids: tars.map(digestOf) },
    history: ["the program", "the text about it"].map((comment) => ({ created: "1970-01-01T00:00:00Z", comment })),
  });
  const manifest = jsonContent(MEDIA_TYPE.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPE.manifest,
    config: descriptor(config),
    layers: layerBlobs.map(descriptor),
  });
  return { architecture, blobs: [config, ...layerBlobs], manifest };
}

/**
 * The sample image of build number `build`, for amd64 and arm64: a program that says hello, a text, and the index of
 * both.
 */
export async function buildSampleImage(build: number): Promise<MultiImage> {
  const images = await Promise.all(ARCHITECTURES.map((architecture) => buildPlatform(architecture, build)));
  const index = jsonContent(MEDIA_TYPE.index, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPE.index,
    manifests: images.map(({ architecture, manifest }) => ({
      ...descriptor(manifest),
      platform: { architecture, os: "linux" },
    })),
    annotations: { "org.opencontainers.image.version": String(build) },
  });
  return { images, index };
}
