import { createHash } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import type { StreamClient } from "./http-client.ts";
import { isObject, parseJson } from "../lib/json.ts";
import { algorithmOf, isDigest, isTag, parseManifest, type StoredManifest } from "../oci/index.ts";
import { createAuthorization, type Credentials } from "./authorization.ts";
import { openExchange, type Patience, type SmallAnswer } from "./request.ts";
import { UpstreamError } from "./errors.ts";

/** The bytes of a blob on their way. */
export interface BlobStream {
  /** Where in the blob they begin. */
  offset: number;
  /** The blob's size. */
  size: number;
  body: AsyncIterable<Buffer>;
  discard(): void;
}

/**
 * One repository of a registry, to pull from. Everything throws an UpstreamError, and what the signal says when that is
 * aborted.
 */
export interface Upstream {
  /** How much it is tried. */
  patience: Patience;
  /** The names of its tags, a page at a time; those that are none are left out. */
  tags(signal: AbortSignal): AsyncGenerator<string[]>;
  /** What a tag or digest points to. Undefined: there is no such thing. */
  digestOf(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /** Its bytes as they are, which have the digest, if one was asked for. */
  manifest(reference: string, signal: AbortSignal): Promise<StoredManifest | undefined>;
  /** The digests of what refers to the digest. */
  referrers(digest: string, signal: AbortSignal): Promise<string[]>;
  /**
   * A blob's bytes from the offset on, or from its beginning, as the registry likes: they are not checked yet. One try.
   */
  blob(digest: string, offset: number, signal: AbortSignal): Promise<BlobStream | undefined>;
  blobSize(digest: string, signal: AbortSignal): Promise<number | undefined>;
}

export interface UpstreamOptions {
  client: StreamClient;
  clock: Clock;
  /** Scheme, host and port. */
  origin: string;
  /** The repository's name. */
  name: string;
  credentials: Credentials;
  patience: Patience;
  maxManifestBytes: number;
}

const ACCEPT = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.docker.distribution.manifest.v2+json",
].join(", ");
const ACCEPT_LIST = "application/json, application/vnd.oci.image.index.v1+json";
const PAGE = 1_000;
const MAX_PAGES = 10_000;
const MAX_TAGS = 1_000_000;
const MAX_LIST_BYTES = 16 << 20;
const MAX_REFERRERS = 1_000;
const MAX_DEPTH = 16;

/** Source: OCI distribution specification v1.1, "Pull" and "Content Discovery". */
export function openUpstream({
  client,
  clock,
  origin,
  name,
  credentials,
  patience,
  maxManifestBytes,
}: UpstreamOptions): Upstream {
  const exchange = openExchange({
    client,
    clock,
    origin,
    patience,
    authorization: createAuthorization({ client, clock, name, credentials }),
  });
  const base = `/v2/${name}`;

  /** The pages of a list from the target on, by their Link headers. Undefined: there is no such list. */
  async function* pages(
    first: string,
    signal: AbortSignal,
  ): AsyncGenerator<{ body: Record<string, unknown>; linked: boolean } | undefined> {
    let target: string | undefined = first;
    for (let count = 0; target !== undefined; count += 1) {
      if (count === MAX_PAGES)
        throw new UpstreamError("wrong", `a list of the source has more than ${MAX_PAGES} pages`);
      const answer: SmallAnswer = await exchange.read(
        { target, headers: { accept: ACCEPT_LIST }, signal },
        MAX_LIST_BYTES,
      );
      target = nextPage(answer, origin, base);
      yield answer.status === 200 ? { body: jsonOf(answer), linked: target !== undefined } : undefined;
    }
  }
  const manifest: Upstream["manifest"] = async (reference, signal) => {
    const answer = await exchange.read(
      { target: `${base}/manifests/${reference}`, headers: { accept: ACCEPT }, signal },
      maxManifestBytes,
    );
    return answer.status === 200 ? checkedManifest(reference, answer) : missing(answer.status);
  };
  return {
    patience,
    manifest,
    async *tags(signal) {
      let count = 0;
      let last = "";
      for (let more = true; more;) {
        more = false;
        const after = last === "" ? "" : `&last=${encodeURIComponent(last)}`;
        for await (const page of pages(`${base}/tags/list?n=${PAGE}${after}`, signal)) {
          if (page === undefined) throw new UpstreamError("wrong", "the source has no such image");
          const listed: unknown[] = Array.isArray(page.body["tags"]) ? page.body["tags"] : [];
          const names = listed.filter((tag): tag is string => typeof tag === "string" && isTag(tag));
          const newest = names.at(-1) ?? "";
          // A full page without a Link: one that comes after it tells whether that was all.
          more = !page.linked && names.length === PAGE && newest > last;
          last = newest;
          count += names.length;
          if (count > MAX_TAGS) throw new UpstreamError("wrong", `the source has more than ${MAX_TAGS} tags`);
          yield names;
        }
      }
    },
    async digestOf(reference, signal) {
      const { status, headers } = await exchange.read(
        { method: "HEAD", target: `${base}/manifests/${reference}`, headers: { accept: ACCEPT }, signal },
        0,
      );
      if (status !== 200) return missing(status);
      const told = headers["docker-content-digest"];
      return typeof told === "string" && isDigest(told) ? told : (await manifest(reference, signal))?.digest;
    },
    async referrers(digest, signal) {
      const found = new Set<string>();
      for await (const page of pages(`${base}/referrers/${digest}`, signal)) {
        // Without the list there may be the tag that stood in for it.
        const body = page?.body ?? (await fallback(digest, signal));
        for (const each of descriptors(body)) found.add(each);
        if (found.size > MAX_REFERRERS)
          throw new UpstreamError("wrong", `the source has more than ${MAX_REFERRERS} referrers of one manifest`);
      }
      return [...found];
    },
    async blob(digest, offset, signal) {
      const headers: Record<string, string> = offset > 0 ? { range: `bytes=${offset}-` } : {};
      const {
        status,
        headers: told,
        body,
        discard,
      } = await exchange.open({ target: `${base}/blobs/${digest}`, headers, signal });
      const length = lengthOf(told["content-length"]);
      const start = status === 206 ? startOf(told["content-range"]) : 0;
      if ((status === 200 || status === 206) && length !== undefined && start !== undefined)
        return { offset: start, size: start + length, body, discard };
      discard();
      if (status === 200 || status === 206)
        throw new UpstreamError("wrong", "the source does not say how long a blob is");
      return missing(status);
    },
    async blobSize(digest, signal) {
      const { status, headers } = await exchange.read({ method: "HEAD", target: `${base}/blobs/${digest}`, signal }, 0);
      return status === 200 ? lengthOf(headers["content-length"]) : missing(status);
    },
  };

  async function fallback(digest: string, signal: AbortSignal): Promise<unknown> {
    const found = await manifest(digest.replace(":", "-"), signal);
    return found === undefined ? {} : JSON.parse(Buffer.from(found.content).toString());
  }
}

/** Of what is not there nothing is known; any other status is trouble. */
function missing(status: number): undefined {
  if (status !== 404) throw new UpstreamError("wrong", `the source answered ${status}`);
}

/**
 * The manifest as it came. Throws when its digest is not the one that was asked for or told, or when it is of no kind
 * that this registry takes.
 */
function checkedManifest(reference: string, { headers, body: content }: SmallAnswer): StoredManifest {
  const told = headers["docker-content-digest"];
  const expected = isDigest(reference) ? reference : typeof told === "string" && isDigest(told) ? told : "";
  const algorithm = algorithmOf(expected);
  const digest = `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
  if (expected !== "" && digest !== expected)
    throw new UpstreamError("wrong", "the source's manifest is not what its digest says");
  const type = String(headers["content-type"] ?? "");
  const manifest = parseManifest(content, type);
  // Some serve manifests as plain JSON: then their own word counts.
  const read =
    "problem" in manifest && !type.includes("manifest") && !type.includes("index")
      ? parseManifest(content, "")
      : manifest;
  if ("problem" in read) throw new UpstreamError("wrong", `a manifest of the source cannot be taken: ${read.problem}`);
  return { digest, content, manifest: read };
}

function jsonOf({ body }: SmallAnswer): Record<string, unknown> {
  try {
    const value = parseJson(body.toString(), MAX_DEPTH);
    if (isObject(value)) return value;
  } catch {
    // Told below.
  }
  throw new UpstreamError("wrong", "the source answers with what is no JSON object");
}

function descriptors(index: unknown): string[] {
  const listed: unknown[] = isObject(index) && Array.isArray(index["manifests"]) ? index["manifests"] : [];
  return listed.flatMap((each) =>
    isObject(each) && typeof each["digest"] === "string" && isDigest(each["digest"]) ? [each["digest"]] : [],
  );
}

/** Where the next page is, which must be of the same repository. Undefined: this was the last. Source: RFC 8288. */
function nextPage({ status, headers }: SmallAnswer, origin: string, base: string): string | undefined {
  const link = headers["link"];
  const [, target] =
    /<([^>]{1,4096})>\s*;[^,]*\brel="?next\b/i.exec(typeof link === "string" ? link.slice(0, 8_192) : "") ?? [];
  if (status !== 200 || target === undefined) return undefined;
  const url = URL.parse(target, `${origin}${base}/`);
  if (url !== null && url.origin === origin && url.pathname.startsWith(`${base}/`)) return url.pathname + url.search;
  throw new UpstreamError("wrong", "the source's next page is somewhere else");
}

function lengthOf(header: string | string[] | undefined): number | undefined {
  return typeof header === "string" && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}

function startOf(header: string | string[] | undefined): number | undefined {
  const [, start] = /^bytes (\d{1,15})-\d{1,15}\//.exec(typeof header === "string" ? header : "") ?? [];
  return start === undefined ? undefined : Number(start);
}
