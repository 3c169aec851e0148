import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { linkTo } from "@moorage/kernel/lib/link-header";
import { UpstreamError } from "./errors.ts";
import type { RetryPolicy, SmallAnswer } from "./request.ts";
import type { SourceRepository } from "./source-repository.ts";

/** A page of a list. */
export interface Page {
  body: Record<string, unknown>;
  /** Whether its Link header names a page that was not read before. */
  linked: boolean;
  /** Whether its Link header names only a page that was read before. */
  leadsBack: boolean;
}

/** How a list is read. */
export interface PageOptions {
  signal: AbortSignal;
  /** How often a request is repeated, if not as all requests to the registry. */
  retryPolicy?: RetryPolicy;
}

const ACCEPT_LIST = "application/json, application/vnd.oci.image.index.v1+json";
const MAX_PAGES = 10_000;
const MAX_LIST_BYTES = 16 << 20;
const MAX_DEPTH = 16;

/**
 * The pages of a list from the target on, by their Link headers, each once: links that lead back end the list. Yields
 * undefined when there is no such list. Throws an UpstreamError when it has too many pages, or takes too long.
 */
export async function* pagesOf(
  { exchange, origin, base, listTimeoutMs }: SourceRepository,
  first: string,
  { signal, retryPolicy }: PageOptions,
): AsyncGenerator<Page | undefined> {
  const late = AbortSignal.timeout(listTimeoutMs);
  const within = AbortSignal.any([signal, late]);
  const seen = new Set<string>();
  let target: string | undefined = first;
  while (target !== undefined) {
    if (seen.size === MAX_PAGES)
      throw new UpstreamError("wrong", `a list of the source has more than ${MAX_PAGES} pages`);
    seen.add(target);
    const answer: SmallAnswer = await exchange
      .read(
        { target, headers: { accept: ACCEPT_LIST }, signal: within, ...(retryPolicy && { retryPolicy }) },
        MAX_LIST_BYTES,
      )
      .catch((error: unknown) => {
        if (!late.aborted || signal.aborted) throw error;
        throw new UpstreamError(
          "wrong",
          `a list of the source takes longer than ${Math.round(listTimeoutMs / 1000)} s`,
        );
      });
    if (answer.status !== 200) {
      if (answer.status !== 404) throw new UpstreamError("wrong", `the source answered ${answer.status}`, answer);
      yield undefined;
      return;
    }
    const next = nextPage(answer, origin, base);
    target = next !== undefined && seen.has(next) ? undefined : next;
    yield { body: jsonOf(answer), linked: target !== undefined, leadsBack: next !== target };
  }
}

function jsonOf({ body }: SmallAnswer): Record<string, unknown> {
  try {
    const value = parseJson(body.toString(), MAX_DEPTH);
    if (isObject(value)) return value;
  } catch {
    // The error below covers this case.
  }
  throw new UpstreamError("wrong", "the source answers with something other than a JSON object");
}

/**
 * The path and query of the next page, relative to the URL of this one. Undefined after the last one. Throws when it is
 * not of the same repository. A link to the same host by another scheme, as registries behind a proxy write it, is one
 * to the registry itself.
 */
function nextPage({ headers, url }: SmallAnswer, origin: string, base: string): string | undefined {
  const target = linkTo("next", headers["link"]);
  if (target === undefined) return undefined;
  const next = URL.parse(target, url.href);
  const isOwn = next !== null && (next.origin === origin || isSameHost(next, new URL(origin)));
  if (isOwn && next.pathname.startsWith(`${base}/`)) return next.pathname + next.search;
  throw new UpstreamError("wrong", "the source's next page is somewhere else");
}

function isSameHost(one: URL, other: URL): boolean {
  return (
    /^https?:$/.test(one.protocol) && one.hostname === other.hostname && (one.port === other.port || one.port === "")
  );
}
