import { endingOf } from "./paths.ts";

/** One file of a snapshot that was deployed with a time stamp, such as `app-1.0-20260131.101112-3-sources.jar`. */
export interface SnapshotFile {
  /** `20260131.101112`. */
  timestamp: string;
  buildNumber: number;
  /** Empty for the main file. */
  classifier: string;
  extension: string;
}

const STAMPED = /^-(\d{8}\.\d{6})-(\d{1,9})(?:-([^.]+(?:\.[^.]+)*?))?\.((?:tar\.)?[A-Za-z0-9]+(?:\.asc)?)$/;

/** What the name of a snapshot's file says; undefined for one without a time stamp. */
export function snapshotFileOf(artifactId: string, version: string, file: string): SnapshotFile | undefined {
  const [, timestamp, buildNumber, classifier = "", extension] =
    STAMPED.exec(endingOf(artifactId, version, file) ?? "") ?? [];
  if (timestamp === undefined || buildNumber === undefined || extension === undefined) return undefined;
  return { timestamp, buildNumber: Number(buildNumber), classifier, extension };
}

/** Of each classifier and extension the file that was deployed last. */
export function newestFiles(files: readonly SnapshotFile[]): SnapshotFile[] {
  const newest = new Map<string, SnapshotFile>();
  for (const file of files) {
    const key = `${file.classifier} ${file.extension}`;
    const known = newest.get(key);
    if (known === undefined || isLater(file, known)) newest.set(key, file);
  }
  return [...newest.values()];
}

/** Whether a was deployed after b. */
export function isLater(a: SnapshotFile, b: SnapshotFile): boolean {
  return a.buildNumber === b.buildNumber ? a.timestamp > b.timestamp : a.buildNumber > b.buildNumber;
}
