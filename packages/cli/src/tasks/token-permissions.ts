// What personal tokens may do, in a word: the capabilities of a built-in role, or no limit.
import { textIn, textsIn } from "../api/json-fields.ts";
import type { JsonObject, RestClient } from "../api/rest.ts";
import { Failure } from "../command/failure.ts";

const ROLE_OF: Readonly<Record<string, string>> = { pull: "registry.pull", push: "registry.push", read: "viewer" };

/** The words that `--may` takes. */
export const PERMISSION_WORDS: readonly string[] = [...Object.keys(ROLE_OF), "all"];

/** The capabilities that a word stands for on that server; none for `all`. Throws a Failure where it lacks the role. */
export async function capabilitiesFor(rest: RestClient, word: string): Promise<string[]> {
  if (word === "all") return [];
  const role = (await builtInRoles(rest)).get(ROLE_OF[word] ?? "");
  if (role === undefined) throw new Failure(`there is no built-in role ${ROLE_OF[word]}`, { field: "--may" });
  return role;
}

/** Answers the word for a token's capabilities: how many they are, where no word stands for just them. */
export async function permissionWords(rest: RestClient): Promise<(token: JsonObject) => string> {
  const roles = await builtInRoles(rest);
  const words = new Map<string, string>();
  for (const [word, role] of Object.entries(ROLE_OF)) {
    const capabilities = roles.get(role);
    if (capabilities !== undefined) words.set(keyOf(capabilities), word);
  }
  return (token) => {
    const capabilities = textsIn(token, "capabilities");
    if (capabilities.length === 0) return "all";
    return words.get(keyOf(capabilities)) ?? `${capabilities.length} capabilities`;
  };
}

async function builtInRoles(rest: RestClient): Promise<Map<string, string[]>> {
  const roles = new Map<string, string[]>();
  for await (const role of rest.list("/iam/v2/roles", "roles", { query: { "uidp.in_root": "true" } }))
    roles.set(textIn(role, "name"), textsIn(role, "capabilities"));
  return roles;
}

function keyOf(capabilities: readonly string[]): string {
  return capabilities.toSorted().join();
}
