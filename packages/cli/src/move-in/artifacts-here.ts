// The libraries of a group here, by the API.
import { textIn } from "../api/json-fields.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";

const PAGE_SIZE = 200;
const ARTIFACTS = "/libraries/v2/artifacts";

/** The ecosystems that packages move into, as the API names them. */
export const ECOSYSTEMS_HERE = ["ECOSYSTEM_JAVASCRIPT", "ECOSYSTEM_PYTHON", "ECOSYSTEM_JAVA"] as const;
export type EcosystemHere = (typeof ECOSYSTEMS_HERE)[number];

/** The uids of the libraries of an ecosystem in a group, by name. */
export async function artifactsHere(
  rest: RestClient,
  group: string,
  ecosystems: EcosystemHere,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const query = { "uidp.children_of": group, ecosystems };
  for await (const artifact of rest.list(ARTIFACTS, "artifacts", { query, pageSize: PAGE_SIZE }))
    found.set(textIn(artifact, "name"), textIn(artifact, "uid"));
  return found;
}

/** The versions of a library that are here, published or fetched. */
export function versionsHere(rest: RestClient, uid: string): AsyncGenerator<JsonObject> {
  return rest.list(`${ARTIFACTS}/${encodeURIComponent(uid)}/versions`, "artifactVersions", { pageSize: PAGE_SIZE });
}
