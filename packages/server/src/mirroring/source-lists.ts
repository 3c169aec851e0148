import { isObject, parseJson } from "../lib/json.ts";
import { isDigest, isTag } from "../oci/index.ts";
import { UpstreamError } from "./errors.ts";
import type { SmallAnswer } from "./request.ts";
import { readManifest } from "./source-manifests.ts";
import type { SourceRepository } from "./source-repository.ts";

/** A page of a list; `linked`: its Link header names a next page. */
interface Page {
  body: Record<string, unknown>;
  linked: boolean;
}

const ACCEPT_LIST = "application/json, application/vnd.oci.image.index.v1+json";
const PAGE = 1_000;
const MAX_PAGES = 10_000;
const MAX_TAGS = 1_000_000;
const MAX_LIST_BYTES = 16 << 20;
const MAX_REFERRERS = 1_000;
const MAX_DEPTH = 16;
const MAX_LINK_CHARS = 8_192;

/** The names of the repository's tags, a page at a time; invalid names are left out. */
export async function* listTags(repository: SourceRepository, signal: AbortSignal): AsyncGenerator<string[]> {
  let count = 0;
  let last = "";
  for (let more = true; more;) {
    more = false;
    const after = last === "" ? "" : `&last=${encodeURIComponent(last)}`;
    for await (const page of pages(repository, `${repository.base}/tags/list?n=${PAGE}${after}`, signal)) {
      if (page === undefined) throw new UpstreamError("wrong", "the source has no such image");
      const listed: unknown[] = Array.isArray(page.body["tags"]) ? page.body["tags"] : [];
      const names = listed.filter((tag): tag is string => typeof tag === "string" && isTag(tag));
      const newest = names.at(-1) ?? "";
      // After a full page without a Link header, the list is asked again from its last tag on: some registries send no
      // links.
      more = !page.linked && names.length === PAGE && newest > last;
      last = newest;
      count += names.length;
      if (count > MAX_TAGS) throw new UpstreamError("wrong", `the source has more than ${MAX_TAGS} tags`);
      yield names;
    }
  }
}

/** The digests of the manifests that refer to the digest. */
export async function listReferrers(
  repository: SourceRepository,
  digest: string,
  signal: AbortSignal,
): Promise<string[]> {
  const found = new Set<string>();
  for await (const page of pages(repository, `${repository.base}/referrers/${digest}`, signal)) {
    // A registry without the referrers API may have the index under the referrers tag.
    const body = page?.body ?? (await referrersTag(repository, digest, signal));
    for (const each of descriptors(body)) found.add(each);
    if (found.size > MAX_REFERRERS)
      throw new UpstreamError("wrong", `the source has more than ${MAX_REFERRERS} referrers of one manifest`);
  }
  return [...found];
}

/** The index under the referrers tag; `{}` when there is none. Source: OCI distribution 1.1, "Referrers Tag Schema". */
async function referrersTag(repository: SourceRepository, digest: string, signal: AbortSignal): Promise<unknown> {
  const found = await readManifest(repository, digest.replace(":", "-"), signal);
  return found === undefined ? {} : JSON.parse(Buffer.from(found.content).toString());
}

/** The pages of a list from the target on, by their Link headers. Yields undefined when there is no such list. */
async function* pages(
  { exchange, origin, base }: SourceRepository,
  first: string,
  signal: AbortSignal,
): AsyncGenerator<Page | undefined> {
  let target: string | undefined = first;
  for (let count = 0; target !== undefined; count += 1) {
    if (count === MAX_PAGES) throw new UpstreamError("wrong", `a list of the source has more than ${MAX_PAGES} pages`);
    const answer: SmallAnswer = await exchange.read(
      { target, headers: { accept: ACCEPT_LIST }, signal },
      MAX_LIST_BYTES,
    );
    target = nextPage(answer, origin, base);
    yield answer.status === 200 ? { body: jsonOf(answer), linked: target !== undefined } : undefined;
  }
}

function jsonOf({ body }: SmallAnswer): Record<string, unknown> {
  try {
    const value = parseJson(body.toString(), MAX_DEPTH);
    if (isObject(value)) return value;
  } catch {
    // The error below covers this case.
  }
  throw new UpstreamError("wrong", "the source answers with what is no JSON object");
}

function descriptors(index: unknown): string[] {
  const listed: unknown[] = isObject(index) && Array.isArray(index["manifests"]) ? index["manifests"] : [];
  return listed.flatMap((each) =>
    isObject(each) && typeof each["digest"] === "string" && isDigest(each["digest"]) ? [each["digest"]] : [],
  );
}

/** The target of the link whose relation is `next`. */
function nextLink(header: string): string | undefined {
  for (const link of header.split("<").slice(1)) {
    const [target = "", after = ""] = link.split(">", 2);
    const [parameters = ""] = after.split(",", 1);
    if (target !== "" && /^\s*;/.test(parameters) && /\brel="?next\b/i.test(parameters)) return target;
  }
  return undefined;
}

/**
 * The path and query of the next page. Undefined after the last one. Throws when it is not of the same repository.
 * Source: RFC 8288.
 */
function nextPage({ status, headers }: SmallAnswer, origin: string, base: string): string | undefined {
  const link = headers["link"];
  const target = nextLink(typeof link === "string" ? link.slice(0, MAX_LINK_CHARS) : "");
  if (status !== 200 || target === undefined) return undefined;
  const url = URL.parse(target, `${origin}${base}/`);
  if (url !== null && url.origin === origin && url.pathname.startsWith(`${base}/`)) return url.pathname + url.search;
  throw new UpstreamError("wrong", "the source's next page is somewhere else");
}
