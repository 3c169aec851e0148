import { readFileSync, statSync } from "node:fs";
import { type Config, settingError } from "@moorage/kernel/config";
import { withCoordinates } from "./archives.ts";
import { linesOf } from "./readers/lines.ts";
import type { ArchiveClues } from "./readers/java-clues.ts";
import type { Component, Unread } from "./types.ts";

const MAX_FILE_BYTES = 64 << 20;
const MAX_ARCHIVES = 500_000;

/** What an operator says of Java archives that say too little of themselves, by their SHA-1. */
export interface JavaIndex {
  /** The component with the coordinates in the index; as it is when it was identified, or is not in it. */
  component(component: Component): Component;
  /** Archives among the notes that are in the index, as components, and the other notes. */
  notes(unread: readonly Unread[]): { components: Component[]; unread: Unread[] };
}

/**
 * Reads the file of the setting MOORAGE_JAVA_INDEX_FILE: a line for each archive, its SHA-1 in hex and
 * `group:artifact:version`; empty lines and those that begin with # say nothing. Empty without the setting. Throws a
 * ConfigError that names the line.
 */
export function readJavaIndex({ javaIndexFile: file }: Pick<Config, "javaIndexFile">): JavaIndex {
  const known = file === "" ? new Map<string, string>() : coordinatesIn(file);
  const identified = (component: Component, sha1: string): Component | undefined => {
    const [namespace = "", name = "", version = ""] = known.get(sha1)?.split(":") ?? [];
    return name === "" ? undefined : withCoordinates(component, { namespace, name, version });
  };
  return {
    component(component) {
      if (known.size === 0 || component.clues === undefined) return component;
      return identified(component, (JSON.parse(component.clues) as ArchiveClues).sha1) ?? component;
    },
    notes(unread) {
      const components: Component[] = [];
      const others = unread.filter(({ path, layer, sha1, waits }) => {
        // Those that wait are components already.
        if (sha1 === undefined || waits === true) return true;
        const source = { sourceName: "", sourceVersion: "", licence: "", reader: "java" };
        const found = identified({ purl: "", name: "", version: "", ...source, path, layer }, sha1);
        if (found !== undefined) components.push(found);
        return found === undefined;
      });
      return { components, unread: others };
    },
  };
}

function coordinatesIn(file: string): Map<string, string> {
  const wrong = (problem: string, cause?: unknown): Error =>
    settingError("javaIndexFile", `${file}: ${problem}`, { cause });
  let text: string;
  try {
    if (statSync(file).size > MAX_FILE_BYTES) throw wrong(`is larger than ${MAX_FILE_BYTES} bytes`);
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw error instanceof Error && "code" in error ? wrong("cannot be read", error) : error;
  }
  const known = new Map<string, string>();
  let number = 0;
  for (const line of linesOf(text)) {
    number += 1;
    const [sha1 = "", coordinates = "", ...more] = line.trim().split(/\s+/);
    if (sha1 === "" || sha1.startsWith("#")) continue;
    const isSound = /^[0-9a-f]{40}$/i.test(sha1) && /^[\w.-]+:[\w.-]+:[\w.+-]+$/.test(coordinates);
    if (!isSound || more.length > 0) throw wrong(`line ${number} is not a SHA-1 in hex and group:artifact:version`);
    if (known.size === MAX_ARCHIVES) throw wrong(`has more than ${MAX_ARCHIVES} archives`);
    known.set(sha1.toLowerCase(), coordinates);
  }
  return known;
}
