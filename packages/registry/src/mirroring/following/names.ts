import { FollowWay } from "@moorage/api/messages";
import { createTurns } from "@moorage/kernel/lib/turns";
import { isRepositoryName } from "../../oci/index.ts";
import { type DueFollow, type FollowRead, type FollowRules, standInOf } from "../../upstreams/index.ts";
import type { CenterClient } from "../center/client.ts";
import { centerRepos } from "../center/repos.ts";
import { changedSince } from "../center/tags.ts";
import { createNameList } from "../copy-result.ts";
import { UpstreamError } from "../errors.ts";
import type { StandInClients } from "../stand-in/sources.ts";
import { type CatalogNames, isFollowed, isRejected, MAX_REPOS, readCatalog } from "./catalog.ts";

/** A Moorage that is followed by its API, in one turn. */
export interface Center {
  client: CenterClient;
  /** The uids of the repos to follow, by their names there. */
  repos: ReadonlyMap<string, string>;
  /** Those in which tags moved since `sinceMs`; undefined when all are to be looked at. */
  changed: ReadonlySet<string> | undefined;
  /** In milliseconds since 1970. */
  sinceMs: number;
  /** Whether every tag is compared, with what is attached to its image. */
  isComparison: boolean;
}

/** The repositories of a registry, and how they were read. */
export interface FollowedNames {
  catalog: CatalogNames;
  /** Undefined when they were not read by the API of a Moorage. */
  center: Center | undefined;
  /** Undefined when it is not known what the registry is. */
  read: FollowRead | undefined;
}

/** After so long all is compared again: some moves are said to have been earlier, and referrers are not listed. */
const COMPARE_EVERY_MS = 6 * 3_600_000;
/** What moved in the time before a turn is looked at again: its signatures come later, and clocks differ. */
const AGAIN_MS = 3_600_000;
const MAX_SKEW_MS = 600_000;

/**
 * Reads which repositories there are: by the API, when the registry is a Moorage and the credential has the right to
 * it, or else by the catalog. Throws as readCatalog does.
 */
export async function readNames(
  due: DueFollow,
  rules: FollowRules,
  clients: StandInClients,
  signal: AbortSignal,
): Promise<FollowedNames> {
  const { upstream: row } = due;
  const client = clients.center(standInOf(row, ""));
  const byCatalog = async (apiProblem: string | undefined): Promise<FollowedNames> => ({
    catalog: await readCatalog(row, rules, clients.catalog(standInOf(row, "")), signal),
    center: undefined,
    read: apiProblem === undefined ? undefined : { way: FollowWay.CATALOG, apiProblem, isComparison: false },
  });
  const isMoorage = await client.isMoorage(signal).catch((error: unknown) => {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    return error.kind === "limited" || error.kind === "unreachable" ? undefined : false;
  });
  if (isMoorage !== true) return await byCatalog(isMoorage === false ? "" : undefined);
  try {
    return await readCenter(due, rules, client, signal);
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    // Then its catalog would not answer either.
    if (error.kind === "limited" || error.kind === "unreachable")
      return { catalog: { ...nothing(), error }, center: undefined, read: undefined };
    return await byCatalog(error.status === undefined ? error.message : apiWords(error.status));
  }
}

/** What it means that the API answered so. */
function apiWords(status: number): string {
  return status === 401 || status === 403
    ? `the credential has no right to its API (${status})`
    : `its API answered ${status}`;
}

async function readCenter(
  due: DueFollow,
  rules: FollowRules,
  client: CenterClient,
  signal: AbortSignal,
): Promise<FollowedNames> {
  const { upstream: row, turnMs, successMs, comparedMs, isForced } = due;
  const found = nothing();
  const repos = new Map<string, string>();
  const turn = createTurns();
  for (const { uid, path } of await centerRepos(client, signal)) {
    await turn();
    // A group above it has a name that a path cannot contain, so that it cannot be pulled.
    if (!isRepositoryName(path)) continue;
    found.listed += 1;
    if (isFollowed(row, rules, path)) repos.set(path, uid);
    else if (isRejected(row, rules, path)) found.rejected += 1;
  }
  if (repos.size > MAX_REPOS)
    throw new UpstreamError("wrong", `more than ${MAX_REPOS} repositories are to be followed: narrow the pattern`);
  const aheadMs = client.aheadMs();
  const isSkewed = aheadMs === undefined || Math.abs(aheadMs) > MAX_SKEW_MS;
  const sinceComparedMs = comparedMs === null ? Infinity : turnMs - comparedMs;
  const isComparison =
    isForced || isSkewed || successMs === null || !(sinceComparedMs >= 0 && sinceComparedMs < COMPARE_EVERY_MS);
  const sinceMs = Math.max(0, (successMs ?? 0) - AGAIN_MS);
  // Deletions are not among what changed, so that an exact turn looks at all tags.
  const changed = isComparison || rules.isExact ? undefined : await changedSince(client, sinceMs, signal);
  return {
    catalog: { ...found, names: new Set(repos.keys()) },
    center: { client, repos, changed, sinceMs, isComparison },
    read: { way: FollowWay.API, apiProblem: "", isComparison },
  };
}

function nothing(): CatalogNames {
  return { names: new Set(), listed: 0, rejected: 0, invalid: createNameList(), error: undefined };
}
