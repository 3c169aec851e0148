import { Capability } from "@moorage/api/messages";
import type { Awaitable } from "@moorage/kernel/lib/awaitable";
import type { VersionOrder } from "@moorage/kernel/lib/versions";
import type { LibraryKind, Row } from "@moorage/kernel/store";
import type { Task } from "../reading/task.ts";
import type { AnyKind } from "./document-kind.ts";
import type { ArtifactChange, Plan, PlanContext } from "./plan.ts";

/** The name of an artifact in the parts of its package URL. */
export interface PackageName {
  /** Empty when it has none. */
  namespace: string;
  name: string;
}

/**
 * An ecosystem, apart from what it answers to its clients. Everything here is light and pure: it is loaded by each
 * process and thread, those that read documents of upstreams too. docs/architecture.md shows where each step is asked.
 */
export interface Ecosystem {
  /** What its part of the URL, its events, its metrics and its package URLs call it: `npm`. */
  key: string;
  /** Its number in the API and in tables. */
  number: number;
  /** What its artifacts are called, for people: `npm packages`. */
  artifacts: string;
  /** What a caller needs to install, and to publish. */
  read: Capability;
  publish: Capability;
  names: NameRules;
  versions: VersionRules;
  purl: PurlRules;
  /** What its clients change of artifacts that are there, by name. */
  changes: Readonly<Record<string, Change>>;
  /** What it reads where it can be killed. */
  tasks: readonly Task[];
  /** The documents that it reads of upstreams. */
  documents: readonly AnyKind[];
  /** Which files count as downloads. Defaults to all files of versions. */
  downloads?: DownloadRules;
  /** The readme in what it keeps of an artifact as a whole. Undefined for an ecosystem that keeps none. */
  readme?: Readme;
}

/** A file of an artifact, as it is kept: see the columns of `artifact_files`. */
type KeptFile = Pick<Row<"artifact_files">, "name" | "metadata">;

/** Which files of versions count as downloads: those that are installed, and not what says something about them. */
interface DownloadRules {
  counts(file: KeptFile): boolean;
  /** Whether it is not known of a file, because it came before that was noted. It does not count then. */
  isUnsure?(file: KeptFile): boolean;
}

interface Readme {
  /** Undefined where none was kept. `contentType`: as its publisher states it; empty for none. */
  of(state: string): { text: string; contentType: string } | undefined;
  /** So many characters of it are kept. */
  maxChars: number;
}

/** How an ecosystem compares names. */
interface NameRules {
  /** A name, or a pattern of names, so that names that somebody might take for each other are the same text. */
  comparable(text: string): string;
  /** Other patterns that a pattern of names stands for as well. Defaults to none. */
  alsoMeant?(pattern: string): string[];
}

/** What is published in one request, as far as the artifact as a whole depends on it. */
export interface PublishedVersion {
  version: string;
  description: string | undefined;
  /** What the ecosystem keeps of the artifact besides, as plain data of its own. */
  about?: unknown;
}

/** Why something is not published. `name`: that of the artifact. */
export type Rejection =
  | { why: "file"; name: string; version: string; file: string }
  | { why: "version" | "removed" | "upstream"; name: string; version: string };

/** The rules of an ecosystem's versions. */
export interface VersionRules {
  order: VersionOrder;
  /** A text whose order, byte by byte, is that of the versions: see lib/versions. */
  sortKey(version: string): string;
  /** Whether clients choose it only when they are asked to, or when there is no other. */
  isPrerelease(version: string): boolean;
  /** Whether versions with the same sort key are one version, as `1.0` and `1.0.0` of Python. */
  areEqualByKey: boolean;
  /** Whether files are added to a version that is there. Otherwise it is published once, whole. */
  grows: boolean;
  /** What can be said against a version that stays. */
  withdrawals: readonly ("yanked" | "deprecated")[];
  /** The version of CUDA that a version was built for, as digits. Defaults to none. */
  cuda?(version: string): string;
  /** What the artifact is with these versions, the earliest first, `added` among them if there is one. */
  settle(
    artifact: Pick<Row<"artifacts">, "state">,
    versions: () => Promise<readonly Row<"artifact_versions">[]>,
    added?: PublishedVersion,
  ): Awaitable<ArtifactChange>;
  /** The status and the message with which something is not published. */
  rejection(rejection: Rejection): { status: 403 | 409; message: string };
}

/** The rules of an ecosystem's package URLs, whose type is its key. */
interface PurlRules {
  /** The parts of a normalized name. */
  partsOf(normalized: string): PackageName;
  /** The parts in the form in which the ecosystem compares them; of patterns too. */
  comparable(name: PackageName): PackageName;
  /** What a namespace is, where none is missing: `the groupId`. Undefined where a name may have none. */
  requiredNamespace?: string;
  /** Qualifiers that say how an artifact is packed, which all of it is. Defaults to none. */
  packing?: readonly string[];
}

/** A change that a client of the ecosystem makes of an artifact that is there. It plans it, and writes nothing. */
export interface Change {
  /** Whether it takes the right to remove versions instead of the right to publish. */
  removes: boolean;
  plan(context: PlanContext): Promise<Plan>;
}

/** The kind of the artifacts of an ecosystem in counters and in the index by ancestor. */
export function kindOf(ecosystem: number): LibraryKind {
  return `artifacts-${ecosystem}`;
}

/** What a caller needs to remove versions, of any ecosystem. */
export const REMOVE = Capability.CAP_LIBRARIES_ARTIFACTS_DELETE;
