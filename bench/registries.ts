import { createHash } from "node:crypto";
import type { Server } from "./processes.ts";

/**
 * A registry under test: Moorage or another one. `authorization` is a whole header line, empty without access control.
 */
export interface Registry extends Server {
  authorization: string;
}

export const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const REQUEST_TIMEOUT_MS = 30_000;
const LAYER_BYTES = 4096;

/** A request outside of the measurements. Throws for any status but 2xx. */
export async function send(
  registry: Registry,
  method: string,
  path: string,
  body?: { type: string; content: Buffer<ArrayBuffer> },
): Promise<Response> {
  const headers: Record<string, string> = body ? { "content-type": body.type } : {};
  if (registry.authorization !== "")
    headers["authorization"] = registry.authorization.slice("authorization: ".length).trim();
  const url = new URL(path, `http://127.0.0.1:${registry.port}`);
  const response = await fetch(url, {
    method,
    headers,
    ...(body && { body: body.content }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  if (!response.ok)
    throw new Error(
      `${registry.name}: ${method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 300)}`,
    );
  return response;
}

function sha256(content: Buffer): string {
  return `sha256:${createHash("sha256").update(content).digest("hex")}`;
}

/** Starts an upload and returns the path, with the digest, for the request that finishes it. */
export async function beginUpload(registry: Registry, repository: string, digest: string): Promise<string> {
  const response = await send(registry, "POST", `/v2/${repository}/blobs/uploads/`);
  await response.body?.cancel();
  const location = new URL(response.headers.get("location") ?? "", `http://127.0.0.1:${registry.port}`);
  return `${location.pathname}${location.search}${location.search === "" ? "?" : "&"}digest=${digest}`;
}

/** A pushed image: digests of its manifest and of its layer of 4 KiB. */
export interface Image {
  digest: string;
  layer: string;
  manifest: Buffer<ArrayBuffer>;
}

/** Pushes a blob, and returns its digest and size. */
export async function pushBlob(
  registry: Registry,
  repository: string,
  content: Buffer<ArrayBuffer>,
): Promise<{ digest: string; size: number }> {
  const digest = sha256(content);
  const response = await send(registry, "PUT", await beginUpload(registry, repository, digest), {
    type: "application/octet-stream",
    content,
  });
  await response.body?.cancel();
  return { digest, size: content.length };
}

/** Pushes a layer of 4 KiB filled with the text, and returns its digest. */
export async function pushLayer(registry: Registry, repository: string, text: string): Promise<string> {
  return (await pushBlob(registry, repository, Buffer.alloc(LAYER_BYTES, text))).digest;
}

/** Pushes an image of one small layer under the tag. */
export async function pushImage(registry: Registry, repository: string, tag: string): Promise<Image> {
  const config = {
    mediaType: "application/vnd.oci.image.config.v1+json",
    ...(await pushBlob(
      registry,
      repository,
      Buffer.from(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}`),
    )),
  };
  const layer = {
    mediaType: "application/vnd.oci.image.layer.v1.tar+gzip",
    ...(await pushBlob(registry, repository, Buffer.alloc(LAYER_BYTES, "moorage"))),
  };
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config, layers: [layer] }));
  await tagImage(registry, repository, tag, manifest);
  return { digest: sha256(manifest), layer: layer.digest, manifest };
}

export async function tagImage(
  registry: Registry,
  repository: string,
  tag: string,
  content: Buffer<ArrayBuffer>,
): Promise<void> {
  const response = await send(registry, "PUT", `/v2/${repository}/manifests/${tag}`, { type: MANIFEST, content });
  await response.body?.cancel();
}
