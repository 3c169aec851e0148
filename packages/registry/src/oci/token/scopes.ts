import type { Action } from "../request.ts";
import { isRepositoryName } from "../digests.ts";

/** The actions granted on one repository, as an entry of the `access` claim. */
export interface RepositoryScope {
  name: string;
  actions: Action[];
}

/** The scope of the list of repositories. Source: distribution token scope documentation. */
export const CATALOG_SCOPE = "registry:catalog:*";

const MAX_REPOSITORIES = 100;
const MAX_LENGTH = 16_384;
const KNOWN: readonly Action[] = ["pull", "push", "delete"];
// Docker asks for a plugin by the type `repository(plugin)`. A class widens nothing: the rights are those of the repo.
const REPOSITORY = /^repository(?:\([a-z0-9]+\))?$/;

/** The requested scopes that can be granted to a caller with the rights. */
export interface Scopes {
  scopes: RepositoryScope[];
  /** Whether the list of repositories is among them. */
  catalog: boolean;
  /** What was requested beside them: scopes that are malformed, of another type, or without a known action. */
  unusable: string[];
}

/**
 * Parses the `scope` parameters of a token request; each may hold several scopes, separated by white space. Entries for
 * one repository are joined, and `*` means all actions. Scopes that cannot be granted to anybody are in `unusable`: a
 * client that asks for several gets the others. `problem` says why there are too many to look at. Source: distribution
 * token scope documentation.
 */
export function parseScopes(values: readonly string[]): Scopes | { problem: string } {
  if (values.reduce((sum, value) => sum + value.length, 0) > MAX_LENGTH)
    return { problem: `is longer than ${MAX_LENGTH} characters` };
  let catalog = false;
  const unusable: string[] = [];
  const found = new Map<string, Set<Action>>();
  for (const text of new Set(values.flatMap((value) => value.split(/\s+/)))) {
    if (text === "") continue;
    const { type, name, asked } = parts(text);
    const actions = KNOWN.filter((action) => asked.includes(action) || asked.includes("*"));
    if (type === "registry" && name === "catalog" && asked.includes("*")) catalog = true;
    else if (!REPOSITORY.test(type) || !isRepositoryName(name) || actions.length === 0) unusable.push(text);
    else found.set(name, new Set([...(found.get(name) ?? []), ...actions]));
  }
  if (found.size > MAX_REPOSITORIES) return { problem: `names more than ${MAX_REPOSITORIES} repositories` };
  return { scopes: [...found].map(([name, actions]) => ({ name, actions: [...actions] })), catalog, unusable };
}

/** The parts of `type:name:action,…`. The name may have colons in it; it is empty where there are not three parts. */
function parts(text: string): { type: string; name: string; asked: string[] } {
  const [first, last] = [text.indexOf(":"), text.lastIndexOf(":")];
  if (first === last) return { type: "", name: "", asked: [] };
  return { type: text.slice(0, first), name: text.slice(first + 1, last), asked: text.slice(last + 1).split(",") };
}
