import type { StoredBlob } from "@moorage/kernel/blobs";
import { type Database, type Row, statement } from "@moorage/kernel/store";
import type { LibraryDeps } from "../requests/exchange.ts";
import { rangesOf } from "../http/ranges.ts";
import { XML_COST } from "../reading/limits.ts";
import { ReadingError } from "../reading/reading-error.ts";
import type { Pom } from "./pom.ts";
import { pluginPrefix } from "./tasks.ts";
import type { Plugin } from "./metadata.ts";

/** What `artifacts.state` has of an artifact of Maven. */
export interface MavenState {
  /** Set for a plugin of Maven, as the packaging of its POM says. */
  isPlugin?: boolean;
  /** The prefix of its goals, as its jar says. */
  goalPrefix?: string;
  /** What the plugin is called, for people. */
  pluginName?: string;
}

const DESCRIPTOR = "META-INF/maven/plugin.xml";
const MAX_DESCRIPTOR_BYTES = 8 * 1024 * 1024;
const MAX_NAME_CHARS = 256;

/** What Maven takes before a colon on its command line. */
const PREFIX = /^[A-Za-z0-9_.-]{1,128}$/;
const MAX_PLUGINS = 10_000;

const selectInGroupId = statement<Row<"artifacts">>(
  "select * from artifacts where parent = ? and ecosystem = ? and normalized >= ? and normalized < ? and state <> '{}' order by normalized limit ?",
);

/** The plugins of a groupId that were deployed to the group, by their artifactIds. */
export async function pluginsOf(
  tx: Database,
  { group, ecosystem, groupId }: { group: string; ecosystem: { number: number }; groupId: string },
): Promise<Plugin[]> {
  // ";" follows ":".
  const artifacts = await selectInGroupId(tx, group, ecosystem.number, `${groupId}:`, `${groupId};`, MAX_PLUGINS);
  return artifacts.flatMap(({ normalized, state }) => {
    const { isPlugin, goalPrefix, pluginName } = JSON.parse(state) as MavenState;
    const artifactId = normalized.slice(groupId.length + 1);
    if (isPlugin !== true) return [];
    return { name: pluginName ?? artifactId, prefix: goalPrefix ?? usualPrefixOf(artifactId), artifactId };
  });
}

/**
 * The prefix that a plugin without a descriptor has: `greet` of `greet-maven-plugin`, of `maven-greet-plugin`, and of
 * `greet`. Source: Maven, "introduction to plugin prefix resolution", and its PluginDescriptor.
 */
function usualPrefixOf(artifactId: string): string {
  if (artifactId === "maven-plugin-plugin") return "plugin";
  return artifactId.replaceAll(/-?maven-?/g, "").replaceAll(/-?plugin-?/g, "") || artifactId;
}

/** What the POM says of a plugin; none of any other artifact. */
export function pluginOfPom({ packaging, name }: Pom): MavenState {
  if (packaging !== "maven-plugin") return {};
  return { isPlugin: true, ...(name !== "" && { pluginName: name.slice(0, MAX_NAME_CHARS) }) };
}

/** What the descriptor in a jar says of the plugin; nothing of a jar that has none, or is no archive. */
export async function pluginOfJar(
  { blobs, reading }: Pick<LibraryDeps, "blobs" | "reading">,
  blob: StoredBlob,
): Promise<MavenState> {
  const { entryOf, ZipError } = await import("../http/stored-zip.ts");
  try {
    const wanted = { isWanted: (name: string) => name === DESCRIPTOR, maxBytes: MAX_DESCRIPTOR_BYTES };
    const descriptor = await entryOf(rangesOf(blobs, blob), blob.size, wanted);
    const goalPrefix =
      descriptor && (await reading.run(pluginPrefix, { bytes: descriptor }, descriptor.length * XML_COST));
    return goalPrefix !== undefined && PREFIX.test(goalPrefix) ? { goalPrefix } : {};
  } catch (error) {
    // Any file may be called jar.
    if (error instanceof ZipError || error instanceof ReadingError) return {};
    throw error;
  }
}
