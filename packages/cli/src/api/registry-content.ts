// What the registry of a server stores, read with the caller's rights: manifests, configurations, referrers.
import { hash } from "node:crypto";
import { EXIT, exitOfStatus } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { isObject, objectsIn, textIn } from "./json-fields.ts";
import type { Json, JsonObject, RestClient } from "./rest.ts";

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_REFERRERS = 10_000;
const MANIFESTS = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");

/** A manifest with its media type and its size in bytes. */
export interface Manifest {
  content: JsonObject;
  mediaType: string;
  sizeBytes: number;
}

/** Reads a manifest or index by its digest. Throws a Failure, also for content of another digest. */
export async function readManifest(rest: RestClient, name: string, digest: string): Promise<Manifest> {
  const response = await ask(rest, name, `manifests/${digest}`, MANIFESTS);
  const bytes = await readBounded(response, digest);
  const content = objectOf(bytes, digest);
  const mediaType = textIn(content, "mediaType") || (response.headers.get("content-type") ?? "");
  return { content, mediaType, sizeBytes: bytes.length };
}

/** Reads the configuration of an image. Throws a Failure. */
export async function readConfig(rest: RestClient, name: string, digest: string): Promise<JsonObject> {
  return objectOf(await readBounded(await ask(rest, name, `blobs/${digest}`), digest), digest);
}

/** What is attached to a manifest, as its referrers list it. Throws a Failure. */
export async function readReferrers(rest: RestClient, name: string, digest: string): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  let path: string | undefined = `referrers/${digest}`;
  while (path !== undefined && found.length < MAX_REFERRERS) {
    const response = await ask(rest, name, path);
    const index = (await response.json()) as Json;
    found.push(...objectsIn(isObject(index) ? index : {}, "manifests"));
    // The next page is named by a path below the host.
    const [, next] = /<([^<>]+)>;\s*rel="?next"?/.exec(response.headers.get("link") ?? "") ?? [];
    path = next?.replace(/^.*?\/v2\//, "").slice(name.length + 1);
  }
  return found;
}

async function ask(rest: RestClient, name: string, path: string, accept?: string): Promise<Response> {
  const response = await rest.fetch(`/v2/${name}/${path}`, {
    audience: "registry",
    ...(accept !== undefined && { headers: { accept } }),
  });
  if (response.ok) return response;
  const body = (await response.json().catch(() => ({}))) as Json;
  const [error] = objectsIn(isObject(body) ? body : {}, "errors");
  const exit = exitOfStatus(response.status);
  throw new Failure(
    `${name}: ${textIn(error, "code") || `HTTP ${response.status}`}: ${textIn(error, "message") || "the registry does not answer this"}`,
    {
      // The registry asks for another token where this one may not do so.
      exit: exit === EXIT.notSignedIn ? EXIT.denied : exit,
    },
  );
}

async function readBounded(response: Response, digest: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Failure(`${digest} has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const [algorithm = "", expected] = digest.split(":");
  if (hash(algorithm, bytes, "hex") !== expected) throw new Failure(`the registry sent other content for ${digest}`);
  return bytes;
}

function objectOf(bytes: Buffer, digest: string): JsonObject {
  try {
    const value = JSON.parse(bytes.toString("utf8")) as Json;
    if (isObject(value)) return value;
  } catch {
    // Said below.
  }
  throw new Failure(`${digest} is no JSON: it is no image`);
}
