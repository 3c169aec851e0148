// What is read of the folder of a registry, wherever it is. Whoever pushes to that registry chose many of the names in
// it, so nothing is read without a limit.
import type { ContentPlace } from "@moorage/kernel/blobs";
import { SourceError } from "./source-error.ts";

/** A name in a folder. */
interface Entry {
  name: string;
  kind: "folder" | "link" | "other";
}

/** A file that was read. */
interface ReadFile {
  content: Buffer;
  modifiedMs: number;
}

/** Reads below the folder of a registry; paths are relative to it. Everything throws a SourceError. */
export interface RegistryFiles {
  /** Its real path, or the URL of the part of a bucket. */
  root: string;
  /** The names in a folder; none when it is not there. */
  list(path: string): AsyncGenerator<Entry>;
  /** A whole file, of at most so many bytes; undefined when it is not there. */
  read(path: string, maxBytes: number): Promise<ReadFile | undefined>;
  /** The size of a file in bytes; undefined when it is not there. */
  size(path: string): Promise<number | undefined>;
  /** Where the content of a file is brought from. Asks nothing. */
  place(path: string): ContentPlace;
}

/** How many names a folder may have. */
export const MAX_ENTRIES = 1_000_000;

/** Where the folder of a registry is below the folders that people know: of distribution, Harbor, and GitLab. */
export const BELOW = ["", "docker/registry/v2", "registry/docker/registry/v2", "shared/registry/docker/registry/v2"];

/** The error for a place that has no such folder. */
export function noRegistry(place: string): SourceError {
  return new SourceError(
    `${place}: is not the folder of a registry: no docker/registry/v2 with blobs and repositories is below it`,
  );
}
