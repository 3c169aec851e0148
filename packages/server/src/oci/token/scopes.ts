import type { Action } from "../request.ts";
import { isRepositoryName } from "../digests.ts";

/** The actions granted on one repository, as an entry of the `access` claim. */
export interface RepositoryScope {
  name: string;
  actions: Action[];
}

/** The scope of the list of repositories. Source: distribution token scope documentation. */
export const CATALOG_SCOPE = "registry:catalog:*";

const MAX_SCOPES = 100;
const MAX_LENGTH = 16_384;
const KNOWN: readonly Action[] = ["pull", "push", "delete"];
// resourcetype, optionally with a class; resourcename, which may contain colons; actions.
const FORM = /^([a-z0-9]+(?:\([a-z0-9]+\))?):(.+):((?:\*|[a-z_]*)(?:,(?:\*|[a-z_]*))*)$/;

/** The requested scopes. `catalog`: whether the list of repositories is among them. */
export interface Scopes {
  scopes: RepositoryScope[];
  catalog: boolean;
}

/**
 * Parses the `scope` parameters of a token request; each may hold several scopes, separated by spaces. Entries for one
 * repository are joined, `*` means all actions; other resource types and unknown actions are ignored. `problem` says
 * why a parameter is malformed. Source: distribution token scope documentation.
 */
export function parseScopes(values: readonly string[]): Scopes | { problem: string } {
  if (values.reduce((sum, value) => sum + value.length, 0) > MAX_LENGTH)
    return { problem: `is longer than ${MAX_LENGTH} characters` };
  const texts = values.flatMap((value) => value.split(" ")).filter((text) => text !== "");
  if (texts.length > MAX_SCOPES) return { problem: `names more than ${MAX_SCOPES} resources` };
  let catalog = false;
  const found = new Map<string, Set<Action>>();
  for (const text of texts) {
    const [, type, name = "", actions = ""] = FORM.exec(text) ?? [];
    if (type === undefined) return { problem: "must be of the form repository:<name>:<actions>" };
    if (text === CATALOG_SCOPE) catalog = true;
    if (type !== "repository") continue;
    if (!isRepositoryName(name)) return { problem: "names a repository by an invalid name" };
    const joined = found.get(name) ?? new Set<Action>();
    found.set(name, joined);
    const asked = actions.split(",");
    for (const action of KNOWN) if (asked.includes(action) || asked.includes("*")) joined.add(action);
  }
  return { scopes: [...found].map(([name, actions]) => ({ name, actions: [...actions] })), catalog };
}
