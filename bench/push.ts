// Pushes images over raw sockets, with the requests that clients send. Each client pushes one image after another over
// a connection of its own, each with new bytes under a new tag, and in a repository of its own.
import { type Connection, openConnection } from "./connection.ts";
import { type Content, prepareImage, type PreparedImage } from "./images.ts";
import { answered, type LoadResult, measure } from "./load.ts";
import { MANIFEST } from "./registries.ts";

/**
 * How a client uploads a blob, after a HEAD that does not find it and a POST: containerd (and Docker with its image
 * store) sends one PUT with a length; the Docker Engine's own store sends a chunked PATCH, an empty PUT, and a HEAD
 * that asks whether it is there.
 */
export type Client = "containerd" | "Docker Engine";

export interface PushLoad {
  port: number;
  /** A whole header line, empty without access control. */
  authorization: string;
  client: Client;
  /** One for each client. */
  repositories: string[];
  layers: number;
  layerBytes: number;
  /** Different from that of every other push to the same registry, as the bytes depend on it. */
  name: string;
  durationMs: number;
}

/** Pushes until the time is over, and the images in progress to their end. An image is an answer of the result. */
export function runPush(load: PushLoad): Promise<LoadResult> {
  return measure(load.durationMs, (counts, fail) =>
    load.repositories.map((repository, index) => {
      const connection = openConnection(load.port);
      const run = async (): Promise<void> => {
        for (let number = 0, goesOn = true; goesOn; number += 1) {
          const tag = `${load.name}-${index}-${number}`;
          counts.underWay += 1;
          try {
            await pushOver(connection, load, repository, tag, prepareImage(tag, load.layers, load.layerBytes));
          } catch (error) {
            if (connection.socket.destroyed) throw error;
            counts.failures += 1;
            counts.firstFailure ||= error instanceof Error ? error.message : String(error);
          }
          goesOn = answered(counts);
        }
      };
      run().catch(fail);
      return connection.socket;
    }),
  );
}

const EMPTY = Buffer.alloc(0);

/**
 * Pushes one image under each of the tags, one after another. The bytes of each depend on `name`, by default the tag.
 */
export async function pushTags(
  load: Omit<PushLoad, "name" | "durationMs" | "repositories">,
  repository: string,
  tags: string[],
  name?: string,
): Promise<void> {
  const connection = openConnection(load.port);
  try {
    for (const tag of tags)
      await pushOver(connection, load, repository, tag, prepareImage(name ?? tag, load.layers, load.layerBytes));
  } finally {
    connection.socket.destroy();
  }
}

type Ask = (method: string, path: string, statuses: number[], body?: Body) => Promise<string>;
interface Body {
  type?: string;
  bytes: Buffer;
  isChunked?: boolean;
}

/** Pushes the image under the tag. Throws for any unexpected answer. */
export async function pushOver(
  connection: Connection,
  { authorization, client }: Pick<PushLoad, "authorization" | "client">,
  repository: string,
  tag: string,
  { layers, config, manifest }: PreparedImage,
): Promise<void> {
  // Returns the path of the Location header. Throws for any status but the expected ones.
  const ask: Ask = async (method, path, statuses, body) => {
    const head = `${method} ${path} HTTP/1.1\r\nhost: bench\r\naccept: ${MANIFEST}\r\n${authorization}`;
    const { status, location, text } = await connection.exchange(withBody(head, body), method);
    if (!statuses.includes(status)) throw new Error(`${method} ${path}: ${text.slice(0, 600)}`);
    return location.replace(/^https?:\/\/[^/]*/, "");
  };
  const upload = client === "containerd" ? uploadWhole : uploadChunked;
  for (const content of [...layers, config]) {
    await ask("HEAD", `/v2/${repository}/blobs/${content.digest}`, [404]);
    const target = await ask("POST", `/v2/${repository}/blobs/uploads/`, [202], { bytes: EMPTY });
    await upload(ask, target, content);
    if (client === "Docker Engine") await ask("HEAD", `/v2/${repository}/blobs/${content.digest}`, [200]);
  }
  if (client === "containerd") await ask("HEAD", `/v2/${repository}/manifests/${tag}`, [404]);
  await ask("PUT", `/v2/${repository}/manifests/${tag}`, [201], { type: MANIFEST, bytes: manifest.bytes });
}

async function uploadWhole(ask: Ask, target: string, { digest, bytes }: Content): Promise<void> {
  await ask("PUT", ended(target, digest), [201], { type: "application/octet-stream", bytes });
}

async function uploadChunked(ask: Ask, target: string, { digest, bytes }: Content): Promise<void> {
  const body = { type: "application/octet-stream", bytes, isChunked: true };
  const next = await ask("PATCH", target, [202], body);
  await ask("PUT", ended(next, digest), [201], { type: "application/octet-stream", bytes: EMPTY });
}

function ended(target: string, digest: string): string {
  return `${target}${target.includes("?") ? "&" : "?"}digest=${encodeURIComponent(digest)}`;
}

function withBody(head: string, body: Body | undefined): Buffer {
  if (body === undefined) return Buffer.from(`${head}\r\n`, "latin1");
  const { type, bytes, isChunked = false } = body;
  const typed = type === undefined ? head : `${head}content-type: ${type}\r\n`;
  if (!isChunked)
    return Buffer.concat([Buffer.from(`${typed}content-length: ${bytes.length}\r\n\r\n`, "latin1"), bytes]);
  return Buffer.concat([
    Buffer.from(`${typed}transfer-encoding: chunked\r\n\r\n${bytes.length.toString(16)}\r\n`, "latin1"),
    bytes,
    Buffer.from("\r\n0\r\n\r\n", "latin1"),
  ]);
}
