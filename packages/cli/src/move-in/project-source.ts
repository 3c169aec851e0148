// What a registry of Python projects, npm packages or Maven artifacts that moves in has, whatever its kind.
import type { EcosystemHere } from "./artifacts-here.ts";
import type { PackageReader } from "./packument.ts";

/** What an index there asks for what it does not hold, as an upstream here; or why there is none. */
export type SourceUpstream =
  | {
      /** Defaults to Python. */
      ecosystem?: EcosystemHere;
      url: string;
      /** Whether it asks nobody until somebody has looked at it. */
      isDisabled: boolean;
      /** What of it does not come. */
      note: string;
    }
  | { fault: string };

/** What an index holds itself. */
export type Holding = "projects" | "packages" | "artifacts" | "images" | "nothing";

/** An index there, or a repository: it becomes a group. */
export interface SourceIndex {
  /** Its path there and here, as `user/index`. */
  name: string;
  holds: Holding;
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

/** A file of a Maven artifact there. */
export interface SourceMavenFile {
  /** Its path in the repository: `org/example/app/1.0/app-1.0.jar`. */
  path: string;
  /** The strongest first; none when the source does not say any. */
  sums: string[];
  /** When it was uploaded, in ISO 8601; undefined when that is not said, or no time that can be. */
  time: string | undefined;
  /** Its path at the source. */
  url: string;
  /** Why it cannot come. */
  fault?: string;
}

/** A Maven artifact there. */
export interface SourceArtifact {
  /** `org.example:app` */
  name: string;
  files: SourceMavenFile[];
}

/** A registry of Python projects that moves in, or of other libraries as well. Everything throws a SourceError. */
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
  /** The npm packages of an index that holds such. */
  packages?(index: string): PackageReader;
  /** The Maven artifacts of an index that holds such. */
  artifacts?(index: string): Promise<SourceArtifact[]>;
  /** The names of the images of an index that holds such, below that of the index. */
  images?(index: string): Promise<string[]>;
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
