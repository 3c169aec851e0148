import type { Database } from "@moorage/kernel/store";
import type { LibraryName } from "./held-versions.ts";
import { libraryKey } from "./held-versions.ts";
import { presetFor } from "../coverage/presets.ts";
import { comparedFeeds, stateByFeeds } from "../coverage/compared-feeds.ts";

/** What feeds know of the libraries of an ecosystem. */
export interface LibraryCoverage {
  type: LibraryName["type"];
  /** `NO_DATA`: no feed that was read to its end covers it, so that no finding says nothing. */
  state: "READ" | "NO_DATA";
  /** The preset of feeds that has them. */
  preset: string;
}

/** Whether a feed covers the libraries of each of these ecosystems. They are compared when they are asked about. */
export async function libraryCoverage(db: Database, types: readonly LibraryName["type"][]): Promise<LibraryCoverage[]> {
  const feeds = await comparedFeeds(db);
  const found: LibraryCoverage[] = [];
  for (const type of types) {
    const space = spaceOfLibraries(type);
    const state = (await stateByFeeds(db, space, feeds)) === "none" ? "NO_DATA" : "READ";
    found.push({ type, state, preset: presetFor(space) });
  }
  return found;
}

/** The key space of the libraries of an ecosystem. */
export function spaceOfLibraries(type: LibraryName["type"]): string {
  const key = libraryKey({ type, namespace: type === "maven" ? "a" : "", name: "a" });
  return key.slice(0, key.indexOf("/"));
}
