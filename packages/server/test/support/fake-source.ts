import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { digestOf, OCI_IMAGE, OCI_INDEX } from "./installation.ts";

/** A request to an image of the source: `path` is what follows the image's name, with the query. */
interface SourceRequest {
  method: string;
  path: string;
  req: IncomingMessage;
  res: ServerResponse;
}

/** An image of a source: a plain registry, unless `misbehave` answers. */
export interface SourceImage {
  /** For `syncConfig.source`. */
  source: string;
  tags: Map<string, string>;
  manifests: Map<string, { content: string; type: string }>;
  blobs: Map<string, string>;
  /** All requests, such as `HEAD manifests/v1`. */
  seen: string[];
  /** Called with each request first. Returns true when it has answered it, or will. */
  misbehave: (request: SourceRequest) => boolean;
  /** Puts an image there. Without a tag it is reached by its digest only. */
  push(content: string, options?: { tags?: string[]; subject?: string }): PushedImage;
  /** The requests whose text begins so. */
  asked(start: string): string[];
}

interface PushedImage {
  digest: string;
  size: number;
  layer: string;
  content: string;
}

const CONFIG = "{}";
const NOT_FOUND = JSON.stringify({ errors: [{ code: "NOT_FOUND", message: "not found" }] });

/**
 * A registry on loopback that a test makes misbehave: anybody may pull, and what it answers is as plain as the
 * distribution specification lets it. Returns a function that makes its images.
 */
export async function startFakeSource(t: TestContext): Promise<(name: string) => SourceImage> {
  const images = new Map<string, SourceImage>();
  const server = createServer((req, res) => {
    const [, name = "", path = ""] = /^\/v2\/team\/([a-z0-9-]+)\/(.*)$/.exec(req.url ?? "") ?? [];
    const image = images.get(name);
    const method = req.method ?? "";
    image?.seen.push(`${method} ${path}`);
    if (image === undefined) res.writeHead(404).end(NOT_FOUND);
    else if (!image.misbehave({ method, path, req, res })) answer(image, path, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return (name) => {
    const image = makeImage(`http://${host}/team/${name}`);
    images.set(name, image);
    return image;
  };
}

function makeImage(source: string): SourceImage {
  const image: SourceImage = {
    source,
    tags: new Map(),
    manifests: new Map(),
    blobs: new Map([[digestOf(CONFIG), CONFIG]]),
    seen: [],
    misbehave: () => false,
    push(content, { tags = [], subject } = {}) {
      const layer = digestOf(content);
      image.blobs.set(layer, content);
      const text = JSON.stringify({
        schemaVersion: 2,
        mediaType: OCI_IMAGE,
        config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: digestOf(CONFIG), size: 2 },
        layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar", digest: layer, size: content.length }],
        ...(subject !== undefined && { subject: { mediaType: OCI_IMAGE, digest: subject, size: 1 } }),
      });
      const digest = digestOf(text);
      image.manifests.set(digest, { content: text, type: OCI_IMAGE });
      for (const tag of tags) image.tags.set(tag, digest);
      return { digest, size: text.length, layer, content: text };
    },
    asked: (start) => image.seen.filter((request) => request.startsWith(start)),
  };
  return image;
}

/** The answer of a registry that complies with the specification. */
function answer(image: SourceImage, path: string, res: ServerResponse): void {
  const [, kind, rest = ""] = /^(tags\/list|manifests|blobs|referrers)(?:\/|\?|$)(.*)$/.exec(path) ?? [];
  const reference = rest.split("?", 1)[0] ?? "";
  const manifest = image.manifests.get(image.tags.get(reference) ?? reference);
  const blob = image.blobs.get(reference);
  if (kind === "tags/list") sendJson(res, { name: "app", tags: [...image.tags.keys()].sort() });
  else if (kind === "referrers") sendJson(res, referrersOf(image, reference), { "content-type": OCI_INDEX });
  else if (kind === "manifests" && manifest !== undefined)
    res
      .writeHead(200, {
        "content-type": manifest.type,
        "content-length": manifest.content.length,
        "docker-content-digest": digestOf(manifest.content),
      })
      .end(manifest.content);
  else if (kind === "blobs" && blob !== undefined) res.writeHead(200, { "content-length": blob.length }).end(blob);
  else res.writeHead(404, { "content-type": "application/json" }).end(NOT_FOUND);
}

/** The index of the manifests that refer to the digest. */
function referrersOf({ manifests }: SourceImage, subject: string): object {
  const found = [...manifests].filter(
    ([, { content }]) => content.includes(`"subject":{`) && content.includes(subject),
  );
  return {
    schemaVersion: 2,
    mediaType: OCI_INDEX,
    manifests: found.map(([digest, { content, type }]) => ({ mediaType: type, digest, size: content.length })),
  };
}

/** Answers 200 with the JSON. */
export function sendJson(res: ServerResponse, body: object, headers: Record<string, string | string[]> = {}): true {
  res.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  return true;
}

/** Answers with the status and an error in the form of registries. */
export function sendStatus(res: ServerResponse, status: number, headers: Record<string, string> = {}): true {
  res.writeHead(status, { "content-type": "application/json", ...headers }).end(NOT_FOUND);
  return true;
}
