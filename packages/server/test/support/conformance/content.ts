import { createHash, randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";

export const OCI = {
  config: "application/vnd.oci.image.config.v1+json",
  empty: "application/vnd.oci.empty.v1+json",
  image: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar",
  layerGzip: "application/vnd.oci.image.layer.v1.tar+gzip",
  foreign: "application/vnd.oci.image.layer.nondistributable.v1.tar",
  foreignGzip: "application/vnd.oci.image.layer.nondistributable.v1.tar+gzip",
} as const;
export const OCTETS = "application/octet-stream";

export type Algorithm = "sha256" | "sha512";

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  artifactType?: string;
  annotations?: Record<string, string>;
  data?: string;
  platform?: { os: string; architecture: string };
  urls?: string[];
}

export interface Manifest {
  body: Buffer;
  mediaType: string;
  /** Digest of the subject, when there is one. */
  subject: string | undefined;
}

/** The content that one test pushes: blobs, then manifests in their order, then tags. */
export interface Content {
  blobs: Map<string, Buffer>;
  manifests: Map<string, Manifest>;
  tags: Map<string, string>;
  /** The referrers expected for each subject. */
  referrers: Map<string, Descriptor[]>;
}

export interface ManifestOptions {
  algorithm?: Algorithm;
  tag?: string;
  artifactType?: string;
  annotations?: Record<string, string>;
  subject?: Descriptor;
  /** Members of no specification, in the manifest and in the config. */
  extra?: Record<string, unknown>;
}

export interface ImageOptions extends ManifestOptions {
  layers?: number;
  layerType?: string;
  layerContent?: Buffer;
  configType?: string;
  configContent?: Buffer;
  /** Whether descriptors embed their content in `data`. */
  inline?: boolean;
  architecture?: string;
}

export function digestOf(content: Buffer | string, algorithm: Algorithm = "sha256"): string {
  return `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
}

export function emptyContent(): Content {
  return { blobs: new Map(), manifests: new Map(), tags: new Map(), referrers: new Map() };
}

export function addBlob(
  content: Content,
  mediaType: string,
  body: Buffer,
  { algorithm, inline = false }: { algorithm?: Algorithm; inline?: boolean } = {},
): Descriptor {
  const digest = digestOf(body, algorithm);
  content.blobs.set(digest, body);
  return { mediaType, digest, size: body.length, ...(inline && { data: body.toString("base64") }) };
}

/** An image, or with another config type an artifact: its blobs and its manifest. */
export function addImage(content: Content, options: ImageOptions = {}): Descriptor {
  const { layers: count = 2, layerType = OCI.layerGzip, configType = OCI.config, architecture = "amd64" } = options;
  const layers = Array.from({ length: count }, () =>
    addBlob(content, layerType, options.layerContent ?? newLayer(layerType), options),
  );
  const config = {
    os: "linux",
    architecture,
    rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => digest) },
    ...options.extra,
  };
  const configBody = options.configContent ?? Buffer.from(JSON.stringify(config));
  return addImageOf(content, addBlob(content, configType, configBody, options), layers, options);
}

/** The manifest of an image whose blobs exist already, or may be missing. */
export function addImageOf(
  content: Content,
  config: Descriptor,
  layers: Descriptor[],
  options: ManifestOptions = {},
): Descriptor {
  return addManifest(content, OCI.image, { config, layers }, options.artifactType ?? config.mediaType, options);
}

/** An index of images of the architectures, all made by the options; only the index has the tag. */
export function addIndex(content: Content, architectures: string[], options: ImageOptions = {}): Descriptor {
  const { tag: _, ...each } = options;
  const images = architectures.map((architecture) => ({
    ...addImage(content, { ...each, architecture }),
    platform: { os: "linux", architecture },
  }));
  return addIndexOf(content, images, options);
}

export function addIndexOf(content: Content, manifests: Descriptor[], options: ManifestOptions = {}): Descriptor {
  return addManifest(content, OCI.index, { manifests }, options.artifactType, options);
}

function addManifest(
  content: Content,
  mediaType: string,
  members: object,
  listedType: string | undefined,
  { algorithm, tag, artifactType, annotations, subject, extra }: ManifestOptions,
): Descriptor {
  const body = Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType, artifactType, ...members, subject, annotations, ...extra }),
  );
  const digest = digestOf(body, algorithm);
  const descriptor = { mediaType, digest, size: body.length };
  content.manifests.set(digest, { body, mediaType, subject: subject?.digest });
  if (tag !== undefined) content.tags.set(tag, digest);
  if (subject !== undefined) {
    const listed = {
      ...descriptor,
      ...(listedType !== undefined && { artifactType: listedType }),
      ...(annotations && { annotations }),
    };
    content.referrers.set(subject.digest, [...(content.referrers.get(subject.digest) ?? []), listed]);
  }
  return descriptor;
}

function newLayer(mediaType: string): Buffer {
  const content = Buffer.from(randomBytes(1024).toString("base64"));
  return mediaType.endsWith("+gzip") ? gzipSync(content) : content;
}
