import { createTurns } from "@moorage/kernel/lib/turns";
import type { Row } from "@moorage/kernel/store";
import { isRepositoryName } from "../../oci/index.ts";
import { type FollowRules, pathBelow, standInOf } from "../../upstreams/index.ts";
import { createNameList, type NameList } from "../copy-result.ts";
import { UpstreamError } from "../errors.ts";
import type { Catalog } from "../registry-client.ts";

/** What a registry's catalog says of its repositories. */
export interface CatalogNames {
  /** Those to follow. */
  names: Set<string>;
  /** How many names it lists. */
  listed: number;
  /** How many of them would be followed, but for `allowed` and `denied`. */
  rejected: number;
  /** Those that no repository may have. */
  invalid: NameList;
  /** Why there may be more of them. Undefined when these are all. */
  error: UpstreamError | undefined;
}

/** More than that are not followed. */
export const MAX_REPOS = 20_000;

/**
 * Reads the catalog of an upstream's registry. What is wrong with it is answered with the names that came before it:
 * also that there is none, or that we may not read it.
 */
export async function readCatalog(
  row: Row<"registry_upstreams">,
  rules: FollowRules,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<CatalogNames> {
  const found: CatalogNames = { names: new Set(), listed: 0, rejected: 0, invalid: createNameList(), error: undefined };
  const turn = createTurns();
  try {
    for await (const page of catalog.repositories(signal)) {
      found.listed += page.length;
      for (const name of page) {
        if (!isRepositoryName(name)) found.invalid.add(name.replace(/[^\x20-\x7e]/g, "?").slice(0, 80));
        else if (!isFollowed(row, rules, name)) found.rejected += isRejected(row, rules, name) ? 1 : 0;
        else found.names.add(name);
        await turn();
      }
      if (found.names.size > MAX_REPOS)
        throw new UpstreamError("wrong", `more than ${MAX_REPOS} repositories are to be followed: narrow the pattern`);
    }
  } catch (error) {
    if (!(error instanceof UpstreamError) || signal.aborted) throw error;
    found.error = error;
  }
  return found;
}

/** Whether a repository is to be followed, by its name at the registry. */
export function isFollowed(row: Row<"registry_upstreams">, rules: FollowRules, name: string): boolean {
  return isBelow(row, rules, name) && standInOf(row, name).isAllowed;
}

/** Whether a repository would be followed, but for `allowed` and `denied`. */
export function isRejected(row: Row<"registry_upstreams">, rules: FollowRules, name: string): boolean {
  return isBelow(row, rules, name) && !standInOf(row, name).isAllowed;
}

function isBelow(row: Row<"registry_upstreams">, rules: FollowRules, name: string): boolean {
  return pathBelow(row, name) !== undefined && rules.wantsRepo(name);
}
