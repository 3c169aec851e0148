import { type PomFacts, pomFacts } from "./pom-facts.ts";
import type { Release } from "./paths.ts";
import { type Pom, pluginPrefixOf, pomOf } from "./pom.ts";

// Reads XML from uploads and upstreams, given as bytes.

/** What a POM says; undefined for what is none. */
export function readPom({ bytes }: { bytes: Uint8Array }): Pom | undefined {
  return pomOf(textOf(bytes));
}

/** What is kept of the POM of a release: see pomFacts. */
export function readPomFacts({ bytes, release }: { bytes: Uint8Array; release: Release }): PomFacts {
  return pomFacts(textOf(bytes), release);
}

/** The prefix of a plugin, by the descriptor in its jar. */
export function readPluginPrefix({ bytes }: { bytes: Uint8Array }): string | undefined {
  return pluginPrefixOf(textOf(bytes));
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
