// The protocol of registries, as far as a plan needs it: lists, digests of tags, and the sizes of content.
import { createHash } from "node:crypto";
import { isList, isObject, parseJson } from "@moorage/kernel/lib/json";
import { jsonOf, type SourceClient } from "./client.ts";
import { isDigest } from "./model.ts";
import { itemsOfPages } from "./pages.ts";
import { SourceError } from "./source-error.ts";

/** Content that a manifest names, by its digest. */
export interface Descriptor {
  digest: string;
  size: number;
  isManifest: boolean;
}

const INDEX = "application/vnd.oci.image.index.v1+json";
const IMAGE = "application/vnd.oci.image.manifest.v1+json";
const MEDIA_TYPES = [
  INDEX,
  IMAGE,
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const ACCEPT = MEDIA_TYPES.join(", ");
const PAGE = 1_000;
const MAX_NAME = 512;
/** The largest manifest that is read, in bytes. */
export const MAX_MANIFEST_BYTES = 4 << 20;
const MAX_DESCRIPTORS = 20_000;
const MAX_DEPTH = 32;
const MAX_VALUES = 1_000_000;

/** A manifest that was read. */
export interface ReadManifest {
  /** Its own size in bytes. */
  size: number;
  /** What it names. */
  names: Descriptor[];
  /** The digest that it refers to. */
  subject: string | undefined;
}

/** What a plan reads of manifests. Everything throws a SourceError. */
export interface ManifestReader {
  manifest(repo: string, digest: string): Promise<ReadManifest>;
  /** Undefined where the source lists no referrers. */
  referrers(repo: string, digest: string): Promise<Descriptor[] | undefined>;
}

/** Reads manifests from a registry. */
export function manifestReader(client: SourceClient): ManifestReader {
  return {
    manifest: (repo, digest) => readManifest(client, repo, digest),
    referrers: (repo, digest) => referrersOf(client, repo, digest),
  };
}

/** The names of its repositories. Throws a SourceError, also when the registry does not list them. `api`: its path. */
export async function* catalogOf(client: SourceClient, api = "/v2"): AsyncGenerator<string> {
  let any = false;
  for await (const name of itemsOfPages(
    client,
    `${api}/_catalog?n=${PAGE}`,
    (body) => textsOf(body, "repositories"),
    same,
  )) {
    any = true;
    yield name;
  }
  if (!any && (await client.ask(`${api}/_catalog?n=1`)).status === 404)
    throw new SourceError("the source does not list its repositories: name them in a file with --names");
}

/** The names of a repository's tags. Throws a SourceError. */
export function tagNamesOf(client: SourceClient, repo: string): AsyncGenerator<string> {
  return itemsOfPages(client, `/v2/${repo}/tags/list?n=${PAGE}`, (body) => textsOf(body, "tags"), same);
}

/** What a tag points to, by HEAD where the registry answers it. Undefined when it has no such tag. */
export async function digestOfTag(client: SourceClient, repo: string, tag: string): Promise<string | undefined> {
  const target = `/v2/${repo}/manifests/${encodeURIComponent(tag)}`;
  const head = await client.ask(target, { method: "HEAD", accept: ACCEPT }).catch((error: unknown) => {
    if (error instanceof SourceError && [400, 403, 405, 406, 501].includes(error.status)) return undefined;
    throw error;
  });
  if (head?.status === 404) return undefined;
  const named = head?.headers.get("docker-content-digest");
  if (isDigest(named)) return named;
  const answer = await client.ask(target, { accept: ACCEPT, maxBytes: MAX_MANIFEST_BYTES });
  if (answer.status === 404) return undefined;
  manifestOf(answer.body);
  return digestOf(answer.body, "sha256");
}

/**
 * What the manifest of the digest names, and its own size. Throws a SourceError when it is not there, is none, or its
 * bytes have another digest.
 */
async function readManifest(client: SourceClient, repo: string, digest: string): Promise<ReadManifest> {
  const answer = await client.ask(`/v2/${repo}/manifests/${digest}`, { accept: ACCEPT, maxBytes: MAX_MANIFEST_BYTES });
  if (answer.status === 404) throw new SourceError(`the source does not have the manifest ${digest}`, { status: 404 });
  const [algorithm = ""] = digest.split(":");
  const found = digestOf(answer.body, algorithm);
  if (found !== digest) throw new SourceError(`the source sends ${found} for ${digest}: its digests do not hold`);
  return { size: answer.body.length, ...manifestOf(answer.body) };
}

/** What refers to the digest. Undefined where the registry has no list of that. */
async function referrersOf(client: SourceClient, repo: string, digest: string): Promise<Descriptor[] | undefined> {
  const answer = await client.ask(`/v2/${repo}/referrers/${digest}`, { accept: ACCEPT }).catch((error: unknown) => {
    if (error instanceof SourceError && error.status > 0 && error.status !== 429) return undefined;
    throw error;
  });
  if (answer === undefined || answer.status === 404) return undefined;
  const body = jsonOf(answer);
  return isObject(body) ? descriptorsOf(body, "manifests", true) : undefined;
}

/** What a manifest names, and what it is. Throws a SourceError when the bytes are none. */
export function manifestOf(bytes: Buffer): Omit<ReadManifest, "size"> & { mediaType: string } {
  const body = objectIn(bytes);
  if (body?.["schemaVersion"] !== 2)
    throw new SourceError(
      body?.["schemaVersion"] === 1 ? "is a Docker image of schema 1, which is not stored here" : "is no manifest",
    );
  const config = isObject(body["config"]) ? descriptorsOf({ config: [body["config"]] }, "config", false) : [];
  const [subject] = isObject(body["subject"]) ? descriptorsOf({ subject: [body["subject"]] }, "subject", true) : [];
  const named = body["mediaType"];
  return {
    mediaType:
      typeof named === "string" && MEDIA_TYPES.includes(named) ? named : isList(body["manifests"]) ? INDEX : IMAGE,
    subject: subject?.digest,
    names: [
      ...config,
      ...descriptorsOf(body, "layers", false),
      ...descriptorsOf(body, "blobs", false),
      ...descriptorsOf(body, "manifests", true),
    ],
  };
}

function objectIn(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const body = parseJson(bytes.toString(), MAX_DEPTH, MAX_VALUES);
    return isObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function descriptorsOf(body: Record<string, unknown>, field: string, isManifest: boolean): Descriptor[] {
  const listed = body[field];
  if (!isList(listed)) return [];
  if (listed.length > MAX_DESCRIPTORS) throw new SourceError(`one manifest names more than ${MAX_DESCRIPTORS} others`);
  return listed.flatMap((each) => {
    if (!isObject(each) || !isDigest(each["digest"])) return [];
    const { digest, size, urls } = each;
    // What only other places have is no content of the registry.
    if (isList(urls) && urls.length > 0) return [];
    return [
      { digest, size: typeof size === "number" && Number.isSafeInteger(size) && size >= 0 ? size : 0, isManifest },
    ];
  });
}

function textsOf(body: unknown, field: string): string[] {
  const listed = isObject(body) ? body[field] : undefined;
  if (listed === null) return [];
  if (!isList(listed)) throw new SourceError(`the source answers without a list of ${field}`);
  return listed.map((each) => (typeof each === "string" ? each.slice(0, MAX_NAME).toWellFormed() : ""));
}

/** The digest of the bytes. `algorithm`: sha256 or sha512. */
export function digestOf(bytes: Buffer, algorithm: string): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest("hex")}`;
}

const same = (text: string): string => text;
