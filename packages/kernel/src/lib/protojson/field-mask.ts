/**
 * The last part of a path whose message an update sets where it is not set, and leaves as it is where it is: what an
 * empty object in a body without a mask asks for. No field has such a name.
 */
export const PRESENT = "";

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
