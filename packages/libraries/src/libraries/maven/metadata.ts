// The documents `maven-metadata.xml`, made of what is there: what clients send of them is not kept. Source: Maven,
// "repository metadata", schema 1.1.0.
import { baseOf, type Coordinates } from "./paths.ts";
import { isLater, newestFiles, type SnapshotFile } from "./snapshots.ts";

/** The versions of an artifact, as metadata has them: the earliest first. */
interface Versioning extends Coordinates {
  versions: readonly string[];
  /** Empty where there is none, as `release`. */
  latest: string;
  release: string;
  /** In milliseconds since 1970. */
  updateMs: number;
}

/**
 * The metadata in a folder, which can be that of an artifact and of a groupId in one: the versions of the artifact, and
 * the plugins of the groupId.
 */
export function folderMetadata(versioning: Versioning | undefined, plugins: readonly Plugin[]): string {
  return document([
    ...(versioning === undefined ? [] : versionLines(versioning)),
    ...(plugins.length === 0
      ? []
      : ["<plugins>", ...plugins.flatMap(pluginLines).map((line) => `  ${line}`), "</plugins>"]),
  ]);
}

function pluginLines({ name, prefix, artifactId }: Plugin): string[] {
  const fields = [element("name", name), element("prefix", prefix), element("artifactId", artifactId)];
  return ["<plugin>", ...fields.map((line) => `  ${line}`), "</plugin>"];
}

function versionLines({ groupId, artifactId, versions, latest, release, updateMs }: Versioning): string[] {
  return [
    element("groupId", groupId),
    element("artifactId", artifactId),
    "<versioning>",
    ...(latest === "" ? [] : [`  ${element("latest", latest)}`]),
    ...(release === "" ? [] : [`  ${element("release", release)}`]),
    "  <versions>",
    ...versions.map((version) => `    ${element("version", version)}`),
    "  </versions>",
    `  ${element("lastUpdated", stampOf(updateMs))}`,
    "</versioning>",
  ];
}

/** The metadata of a snapshot: its last build, and which file of each kind is the newest. */
export function snapshotMetadata(
  { groupId, artifactId }: Coordinates,
  { version, files, updateMs }: { version: string; files: readonly SnapshotFile[]; updateMs: number },
): string {
  const newest = newestFiles(files);
  const last = newest.reduce<SnapshotFile | undefined>(
    (found, file) => (found === undefined || isLater(file, found) ? file : found),
    undefined,
  );
  const valueOf = ({ timestamp, buildNumber }: SnapshotFile): string =>
    `${baseOf(version)}-${timestamp}-${buildNumber}`;
  return document([
    element("groupId", groupId),
    element("artifactId", artifactId),
    element("version", version),
    "<versioning>",
    ...(last === undefined
      ? []
      : [
          "  <snapshot>",
          `    ${element("timestamp", last.timestamp)}`,
          `    ${element("buildNumber", String(last.buildNumber))}`,
          "  </snapshot>",
        ]),
    `  ${element("lastUpdated", stampOf(updateMs))}`,
    "  <snapshotVersions>",
    ...newest.flatMap((file) => [
      "    <snapshotVersion>",
      ...(file.classifier === "" ? [] : [`      ${element("classifier", file.classifier)}`]),
      `      ${element("extension", file.extension)}`,
      `      ${element("value", valueOf(file))}`,
      `      ${element("updated", file.timestamp.replace(".", ""))}`,
      "    </snapshotVersion>",
    ]),
    "  </snapshotVersions>",
    "</versioning>",
  ]);
}

function document(lines: readonly string[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<metadata modelVersion="1.1.0">',
    ...lines.map((line) => `  ${line}`),
    "</metadata>",
    "",
  ].join("\n");
}

function element(name: string, text: string): string {
  return `<${name}>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")}</${name}>`;
}

/** `20260131101112`, in UTC. */
function stampOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, "2026-01-31T10:11:12".length).replaceAll(/[-:T]/g, "");
}

/** A plugin of a groupId, as metadata has it: `mvn <prefix>:<goal>` runs it. */
export interface Plugin {
  name: string;
  prefix: string;
  artifactId: string;
}
