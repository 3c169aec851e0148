import { createHash } from "node:crypto";
import { isObject } from "@moorage/kernel/lib/json";
import { isDigest } from "../oci/index.ts";
import { UpstreamError } from "./errors.ts";
import { readManifest } from "./source-manifests.ts";
import { pagesOf } from "./source-pages.ts";
import type { SourceRepository } from "./source-repository.ts";

/** What refers to a manifest. */
export interface Referrers {
  /** The digests of the manifests that refer to it. */
  digests: string[];
  /** Why there may be more of them. Undefined when these are all. */
  problem?: UpstreamError;
}

const PAGE = 1_000;
const MAX_TAGS = 1_000_000;
/** A name that is not text. */
const NO_TEXT = "(not text)";
// Some registries filter a page after it was cut, so a few may bring nothing although others follow.
const MAX_IDLE_PAGES = 8;
const MAX_REFERRERS = 1_000;
// A registry that has no referrers API, or answers as if it had none.
const NO_REFERRERS_API: ReadonlySet<number> = new Set([404, 405, 501]);
// The image itself does not wait for what refers to it.
const IMPATIENT = { retries: 1, maxWaitMs: 2_000 };

/** A list of names that registries give a page at a time, by `n` and `last`. */
interface NamedList {
  /** What follows the base of the repository. */
  path: string;
  /** The field of its pages. */
  field: string;
  most: number;
  /** The length after which names are cut: longer than any may have. */
  longest: number;
  /** What it means that there is no such list. */
  none: string;
}

const TAGS: NamedList = {
  path: "/tags/list",
  field: "tags",
  most: MAX_TAGS,
  longest: 200,
  none: "the source has no such image",
};
const CATALOG: NamedList = {
  path: "/_catalog",
  field: "repositories",
  most: 1_000_000,
  longest: 300,
  none: "the source has no catalog",
};

/** The names of the repository's tags, a page at a time, those included that no tag may have; as listNames. */
export function listTags(repository: SourceRepository, signal: AbortSignal): AsyncGenerator<string[]> {
  return listNames(repository, TAGS, signal);
}

/**
 * The names of a registry's repositories, a page at a time, those included that none may have; as listNames. The base
 * is that of the registry. Source: the Docker registry API, "Catalog".
 */
export function listRepositories(registry: SourceRepository, signal: AbortSignal): AsyncGenerator<string[]> {
  return listNames(registry, CATALOG, signal);
}

/**
 * The names of a list, a page at a time. It ends when nothing new comes, and throws an UpstreamError when there should
 * be more by then, and one of status 404 when there is no such list.
 */
async function* listNames(
  repository: SourceRepository,
  list: NamedList,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  const { path, field, most, none } = list;
  const pages = createPageMemory();
  let count = 0;
  let last = "";
  for (let more = true; more;) {
    more = false;
    const after = last === "" ? "" : `&last=${encodeURIComponent(last)}`;
    for await (const page of pagesOf(repository, `${repository.base}${path}?n=${PAGE}${after}`, { signal })) {
      if (page === undefined) throw new UpstreamError("wrong", none, { status: 404 });
      const names = namesOf(page.body, list);
      const { isNew, idle } = pages.add(names);
      const newest = names.at(-1) ?? "";
      const isFull = names.length >= PAGE;
      count += names.length;
      if (count > most) throw new UpstreamError("wrong", `the source has more than ${most} ${field}`);
      yield names;
      if (idle > MAX_IDLE_PAGES || (page.leadsBack && !isNew && isFull))
        throw new UpstreamError("wrong", `the source's list of ${field} leads on, and brings nothing new`);
      // After a full page without a Link header, or with one that leads back, the list is asked again from its last
      // name on: some registries send no links.
      more = !page.linked && (page.leadsBack ? isNew : names.length === PAGE) && newest > last;
      last = newest;
    }
  }
}

/** The names on a page. Throws an UpstreamError when it has no list of them. */
function namesOf(body: Record<string, unknown>, { field, longest }: NamedList): string[] {
  const names = body[field];
  if (names === null) return [];
  if (!Array.isArray(names)) throw new UpstreamError("wrong", `the source answers without a list of ${field}`);
  return (names as unknown[]).map((name) =>
    // A name that is too long stays too long.
    typeof name === "string" ? name.slice(0, longest).toWellFormed() : NO_TEXT,
  );
}

/** Remembers what pages brought. */
interface PageMemory {
  /** `isNew`: no page before brought just this; `idle`: how many pages in a row, with this one, brought nothing new. */
  add(names: string[]): { isNew: boolean; idle: number };
}

function createPageMemory(): PageMemory {
  const seen = new Set<string>();
  let idle = 0;
  return {
    add(names) {
      const key = createHash("sha256").update(names.join(" ")).digest("base64");
      const isNew = names.length > 0 && !seen.has(key);
      seen.add(key);
      idle = isNew ? 0 : idle + 1;
      return { isNew, idle };
    },
  };
}

/**
 * The digests of the manifests that refer to the digest. What goes wrong is answered with those that were found. Throws
 * the signal's reason when it is aborted.
 */
export async function listReferrers(
  repository: SourceRepository,
  digest: string,
  signal: AbortSignal,
): Promise<Referrers> {
  const found = new Set<string>();
  const add = (index: unknown): void => {
    for (const each of descriptorsOf(index)) found.add(each);
    if (found.size > MAX_REFERRERS)
      throw new UpstreamError("wrong", `the source has more than ${MAX_REFERRERS} referrers of one manifest`);
  };
  const problem = await problemOf(signal, async () => {
    let idle = 0;
    let isFirst = true;
    for await (const page of pagesOf(repository, `${repository.base}/referrers/${digest}`, {
      signal,
      retryPolicy: IMPATIENT,
    })) {
      if (page === undefined)
        throw new UpstreamError("wrong", "the source answered 404", isFirst ? { status: 404 } : {});
      isFirst = false;
      const before = found.size;
      add(page.body);
      idle = found.size > before ? 0 : idle + 1;
      if (idle > MAX_IDLE_PAGES && page.linked)
        throw new UpstreamError("wrong", "the source's list of referrers leads on, and brings nothing new");
    }
  });
  const isWithoutApi = problem !== undefined && NO_REFERRERS_API.has(problem.status ?? 0);
  // A registry without the referrers API, or whose API fails, may have the index under the referrers tag.
  const tagProblem =
    problem === undefined || problem.kind === "limited" || problem.kind === "unreachable"
      ? undefined
      : await problemOf(signal, async () => add(await referrersTag(repository, digest, signal)));
  const said = isWithoutApi ? tagProblem : problem;
  return { digests: [...found].slice(0, MAX_REFERRERS), ...(said && { problem: said }) };
}

/** The error of the source. Rethrows errors that do not come from it. */
async function problemOf(signal: AbortSignal, work: () => Promise<void>): Promise<UpstreamError | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    return error;
  }
}

/** The index under the referrers tag; `{}` when there is none. Source: OCI distribution 1.1, "Referrers Tag Schema". */
async function referrersTag(repository: SourceRepository, digest: string, signal: AbortSignal): Promise<unknown> {
  const found = await readManifest(repository, digest.replace(":", "-"), signal);
  return found === undefined ? { manifests: [] } : JSON.parse(Buffer.from(found.content).toString());
}

/** The digests of an index. Throws an UpstreamError when it is none. */
function descriptorsOf(index: unknown): string[] {
  const listed = isObject(index) ? index["manifests"] : undefined;
  if (listed === null) return [];
  if (!Array.isArray(listed)) throw new UpstreamError("wrong", "the source answers without a list of referrers");
  return (listed as unknown[]).flatMap((each) =>
    isObject(each) && typeof each["digest"] === "string" && isDigest(each["digest"]) ? [each["digest"]] : [],
  );
}
