// What a registry of Python projects that moves in has, whatever its kind.

/** What an index there asks for what it does not hold, as an upstream here; or why there is none. */
export type SourceUpstream =
  | {
      url: string;
      /** Whether it asks nobody until somebody has looked at it. */
      isDisabled: boolean;
      /** What of it does not come. */
      note: string;
    }
  | { fault: string };

/** An index there: it becomes a group. */
export interface SourceIndex {
  /** Its path there and here, as `user/index`. */
  name: string;
  /** Whether it holds projects itself. */
  holdsProjects: boolean;
  upstream?: SourceUpstream;
  /** What of it does not come. */
  note: string;
  /** Why it cannot come. */
  fault?: string;
}

/** A file there. */
export interface SourceFile {
  name: string;
  version: string;
  summary: string;
  requiresPython: string;
  /** Its SHA-256 first; none when the source does not say it. */
  sums: string[];
  /** When it was uploaded, in ISO 8601; undefined when that is not said, or no time that can be. */
  time: string | undefined;
  /** Why it should not be chosen; undefined when it may be. Source: PEP 592. */
  yanked: string | undefined;
  /** Its path at the source. */
  path: string;
  /** Why it cannot come. */
  fault?: string;
}

/** A project there. */
export interface SourceProject {
  /** As its publisher writes it. */
  name: string;
  files: SourceFile[];
  /** What of it is not read, for people: `2 results of tests`. */
  left: string[];
}

/** A registry of Python projects that moves in. Everything throws a SourceError. */
export interface ProjectSource {
  origin: string;
  /** What else the registry has, which is not read. */
  leavesBehind: string;
  indexes(): Promise<SourceIndex[]>;
  /** The names of the projects that an index holds itself. */
  projects(index: string): Promise<string[]>;
  read(index: string, project: string): Promise<SourceProject>;
  /** The bytes of a file. */
  file(path: string): Promise<Uint8Array[]>;
}

/** The files of a project; one that is listed twice comes once. */
export function listedOnce(files: readonly SourceFile[]): SourceFile[] {
  const seen = new Set<string>();
  return files.map((file) => {
    if (file.fault !== undefined) return file;
    if (seen.has(file.name)) return { ...file, fault: "is listed twice by the source" };
    seen.add(file.name);
    return file;
  });
}
