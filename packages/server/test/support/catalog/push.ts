import { createHash } from "node:crypto";

/** Where an image is pushed, with a registry token. */
export interface PushTarget {
  url: string;
  token: string;
  /** `<organization>/<image>` */
  name: string;
}

const CONFIG = "application/vnd.oci.image.config.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";
const EMPTY = "application/vnd.oci.empty.v1+json";

/** Pushes an image of these layers as the tag, for linux/amd64 unless `configuration` differs. Answers its digest. */
export async function pushLayers(
  target: PushTarget,
  tag: string,
  layers: readonly Uint8Array[],
  layerType = "application/vnd.oci.image.layer.v1.tar",
  configuration: object = { architecture: "amd64", os: "linux" },
): Promise<string> {
  const config = { mediaType: CONFIG, content: JSON.stringify(configuration) };
  return await pushArtifact(target, {
    reference: tag,
    config,
    layers: layers.map((content) => ({ mediaType: layerType, content })),
  });
}

/** Content of an artifact, and what its descriptor says. */
interface ArtifactPart {
  mediaType: string;
  content: Uint8Array | string;
  annotations?: Record<string, string>;
}

/** A manifest with its contents. The configuration is empty by default, the reference the manifest's digest. */
export interface Artifact {
  reference?: string;
  artifactType?: string;
  /** The digest of what it is about. */
  subject?: string;
  config?: ArtifactPart;
  layers: readonly ArtifactPart[];
  /** Of the manifest. */
  annotations?: Record<string, string>;
}

/** Pushes contents and the manifest, as oras and cosign do. Answers the manifest's digest. */
export async function pushArtifact(target: PushTarget, artifact: Artifact): Promise<string> {
  const { reference, artifactType, subject, config = { mediaType: EMPTY, content: "{}" } } = artifact;
  const { layers, annotations: notes } = artifact;
  const blob = async ({ mediaType, content, annotations }: ArtifactPart): Promise<object> => {
    const bytes = Buffer.from(content as Uint8Array);
    const digest = digestOf(bytes);
    await send(target, "POST", `blobs/uploads/?digest=${digest}`, bytes, "application/octet-stream");
    return { mediaType, digest, size: bytes.length, ...(annotations && { annotations }) };
  };
  const pushed: object[] = [];
  const configuration = await blob(config);
  for (const layer of layers) pushed.push(await blob(layer));
  const manifest = {
    schemaVersion: 2,
    mediaType: MANIFEST,
    ...(artifactType !== undefined && { artifactType }),
    config: configuration,
    layers: pushed,
    ...(subject !== undefined && { subject: { mediaType: MANIFEST, digest: subject, size: 1 } }),
    ...(notes !== undefined && { annotations: notes }),
  };
  return await pushManifest(target, manifest, MANIFEST, reference);
}

/** A manifest that the repo has, as an index names it. */
export type IndexEntry = readonly [
  digest: string,
  platform: { os: string; architecture: string; variant?: string },
  annotations?: Record<string, string>,
];

/** Pushes an index of manifests that are there, by platform, as the tag. Answers its digest. */
export async function pushIndex(
  target: PushTarget,
  tag: string,
  entries: readonly IndexEntry[],
  annotations?: Record<string, string>,
): Promise<string> {
  const manifests: object[] = [];
  for (const [digest, platform, notes] of entries) {
    const { headers } = await request(target, "HEAD", `manifests/${digest}`);
    const size = Number(headers.get("content-length"));
    manifests.push({ mediaType: MANIFEST, digest, size, platform, ...(notes && { annotations: notes }) });
  }
  return await pushManifest(target, { schemaVersion: 2, mediaType: INDEX, manifests, annotations }, INDEX, tag);
}

/** Deletes a manifest by its digest, or a tag. */
export async function deleteReference(target: PushTarget, reference: string): Promise<void> {
  const answer = await request(target, "DELETE", `manifests/${reference}`);
  if (answer.status !== 202) throw new Error(`${reference}: ${answer.status} ${await answer.text()}`);
}

async function pushManifest(target: PushTarget, manifest: object, type: string, reference?: string): Promise<string> {
  const bytes = Buffer.from(JSON.stringify(manifest));
  await send(target, "PUT", `manifests/${reference ?? digestOf(bytes)}`, bytes, type);
  return digestOf(bytes);
}

async function send(target: PushTarget, method: string, path: string, body: Buffer, type: string): Promise<void> {
  const answer = await request(target, method, path, body, type);
  if (answer.status !== 201) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
}

async function request(
  { url, token, name }: PushTarget,
  method: string,
  path: string,
  body?: Buffer,
  type?: string,
): Promise<Response> {
  return await fetch(`${url}/v2/${name}/${path}`, {
    method,
    ...(body !== undefined && { body }),
    headers: { authorization: `Bearer ${token}`, ...(type !== undefined && { "content-type": type }) },
    signal: AbortSignal.timeout(60_000),
  });
}

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
