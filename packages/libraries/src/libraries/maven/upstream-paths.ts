import { httpDateMs } from "@moorage/kernel/lib/retry-after";
import { type Coordinates, namesInFiles, type Release } from "./paths.ts";

/** The folder of an artifact, or of the groupId of the same folder, in a Maven repository. */
export function folderOf({ groupId, artifactId }: Coordinates): string {
  return [...groupId.split("."), artifactId].filter((name) => name !== "").join("/");
}

/** Where the POM of a release may be, the usual place first. */
export function pomPathsOf(release: Release): string[] {
  const { artifactId, version } = release;
  return namesInFiles(artifactId).map((name) => `${folderOf(release)}/${version}/${name}-${version}.pom`);
}

/** The URL of a path in a Maven repository. */
export function urlOf({ url }: { url: string }, path: string): string {
  return `${url}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/**
 * When a file was put there, by its header, in milliseconds since 1970; undefined where that says nothing. A time to
 * come is now.
 */
export function lastModifiedMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  nowMs: number,
): number | undefined {
  const value = headers["last-modified"];
  const ms = typeof value === "string" ? (httpDateMs(value, nowMs) ?? Date.parse(value)) : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), nowMs);
}
