import { createHash } from "node:crypto";

/** Where an image is pushed, with a registry token. */
export interface PushTarget {
  url: string;
  token: string;
  /** `<organization>/<image>` */
  name: string;
}

const CONFIG = "application/vnd.oci.image.config.v1+json";
const INDEX = "application/vnd.oci.image.index.v1+json";
const MANIFEST = "application/vnd.oci.image.manifest.v1+json";

/** Pushes an image of these layers as the tag, for linux/amd64 unless `configuration` differs. Answers its digest. */
export async function pushLayers(
  { url, token, name }: PushTarget,
  tag: string,
  layers: readonly Uint8Array[],
  layerType = "application/vnd.oci.image.layer.v1.tar",
  configuration: object = { architecture: "amd64", os: "linux" },
): Promise<string> {
  const send = async (method: string, path: string, body: Uint8Array, type: string): Promise<string> => {
    const answer = await fetch(`${url}/v2/${name}/${path}`, {
      method,
      body: Buffer.from(body),
      headers: { authorization: `Bearer ${token}`, "content-type": type },
      signal: AbortSignal.timeout(60_000),
    });
    if (answer.status !== 201) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return digestOf(body);
  };
  const blob = async (content: Uint8Array, mediaType: string): Promise<object> => ({
    mediaType,
    digest: await send("POST", `blobs/uploads/?digest=${digestOf(content)}`, content, "application/octet-stream"),
    size: content.length,
  });
  const config = await blob(Buffer.from(JSON.stringify(configuration)), CONFIG);
  const pushed: object[] = [];
  for (const layer of layers) pushed.push(await blob(layer, layerType));
  const manifest = JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config, layers: pushed });
  return await send("PUT", `manifests/${tag}`, Buffer.from(manifest), MANIFEST);
}

/** Pushes an index of images that are there, by platform, as the tag. Answers its digest. */
export async function pushIndex(
  { url, token, name }: PushTarget,
  tag: string,
  images: readonly (readonly [digest: string, platform: { os: string; architecture: string; variant?: string }])[],
  annotations?: Record<string, string>,
): Promise<string> {
  const ask = (method: string, reference: string, type: string, body?: Buffer<ArrayBuffer>): Promise<Response> =>
    fetch(`${url}/v2/${name}/manifests/${reference}`, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { authorization: `Bearer ${token}`, accept: MANIFEST, "content-type": type },
      signal: AbortSignal.timeout(60_000),
    });
  const manifests: object[] = [];
  for (const [digest, platform] of images) {
    const size = Number((await ask("HEAD", digest, MANIFEST)).headers.get("content-length"));
    manifests.push({ mediaType: MANIFEST, digest, size, platform });
  }
  const index = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests, annotations }));
  const answer = await ask("PUT", tag, INDEX, index);
  if (answer.status !== 201) throw new Error(`PUT ${tag}: ${answer.status} ${await answer.text()}`);
  return digestOf(index);
}

export function digestOf(content: Uint8Array): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}
