import { documentKind } from "../ecosystem/document-kind.ts";
import { task } from "../reading/task.ts";
import type { PomKind } from "./pom-facts.ts";
import type { MetadataKind } from "./upstream-metadata.ts";

// What Maven reads where it can be killed: POMs, what upstreams list, and what is made of it.

export const folderMetadata = task("maven.metadata", async () => (await import("./render.ts")).renderMetadata);
export const pom = task("maven.pom", async () => (await import("./read-pom.ts")).readPom);
export const pomFacts = task("maven.pomFacts", async () => (await import("./read-pom.ts")).readPomFacts);
export const pluginPrefix = task("maven.pluginPrefix", async () => (await import("./read-pom.ts")).readPluginPrefix);

export const metadataDocument: MetadataKind = documentKind(
  "maven.metadata",
  async () => (await import("./upstream-metadata.ts")).metadataKind,
);
export const pomDocument: PomKind = documentKind("maven.pom", async () => (await import("./pom-facts.ts")).pomKind);
