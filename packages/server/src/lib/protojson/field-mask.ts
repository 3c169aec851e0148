import type { DescField } from "@bufbuild/protobuf";
import { isUpdatable } from "./fields.ts";

/** Which fields of a message to read, by proto name: the whole field, or these fields of it. */
export type Selection = Map<string, Selection | "whole">;

/**
 * The fields of a body that the mask selects. Undefined for `*`: all of them. Paths are in snake_case. A path that does
 * not exist selects nothing; applying the mask rejects it later. Source: docs/contract.md, "Updating", and AIP-161.
 */
export function selectionOf(paths: readonly string[]): Selection | undefined {
  if (paths.includes("*")) return undefined;
  const selection: Selection = new Map();
  for (const path of paths) select(selection, path.split("."));
  return selection;
}

/** The default mask of an update: the updatable fields whose keys are present in the body. */
export function maskOfPresent(present: readonly DescField[]): string[] {
  return present.filter(isUpdatable).map((field) => field.name);
}

function select(selection: Selection, path: string[]): void {
  let at = selection;
  for (const [index, name] of path.entries()) {
    const known = at.get(name);
    if (known === "whole") return;
    if (index === path.length - 1 || path[index + 1] === "*") {
      at.set(name, "whole");
      return;
    }
    const next: Selection = known ?? new Map();
    at.set(name, next);
    at = next;
  }
}
