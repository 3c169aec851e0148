import { isUid } from "../api/name-kinds.ts";
import type { MethodSpec } from "./spec.ts";

// These go by the name of their group, which is not deleted.
const OF_GROUPS: ReadonlySet<string> = new Set(["quota", "registry-upstream", "association"]);

/** How a delete calls a resource: `the repo acme/app`, `the quota of acme/team`. */
export function deletedWords(noun: string, method: Pick<MethodSpec, "verb" | "arguments">, target: string): string {
  const [{ name = "", kind = undefined } = {}] = method.arguments;
  const [, part] = /^delete-(.+)$/.exec(method.verb) ?? [];
  const singular = part ?? (kind === undefined ? noun.replace(/s$/, "") : name);
  const word = singular === "registry-upstream" ? "upstream" : singular.replaceAll("-", " ");
  return `the ${word} ${OF_GROUPS.has(singular) && !isUid(target) ? "of " : ""}${target}`;
}

/** The same for some of a kind. */
export function deletedManyWords(noun: string, targets: readonly string[]): string {
  return `${targets.length} ${noun.replaceAll("-", " ")} (${targets.slice(0, 3).join(", ")}${targets.length > 3 ? ", …" : ""})`;
}
