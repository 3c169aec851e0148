import type { Row } from "@moorage/kernel/store";

/** What a change of an artifact is planned by, in its transaction. */
export interface PlanContext {
  artifact: Row<"artifacts">;
  /** As its client sent it, checked and as plain data of the ecosystem. */
  input: never;
  /** All versions, the earliest first. */
  versions(): Promise<readonly Row<"artifact_versions">[]>;
  /** One version, as the ecosystem writes it. */
  version(version: string): Promise<Row<"artifact_versions"> | undefined>;
}

/** What is said against a version: null takes it back. */
export type Withdrawal = Partial<Pick<Row<"artifact_versions">, "yanked" | "deprecated">>;

/** What a change does. Undefined: nothing. */
export type Plan =
  | undefined
  /** Withdraws versions, or takes that back. */
  | { withdrawn: readonly { version: Row<"artifact_versions">; changes: Withdrawal }[] }
  /** Removes versions for ever, and the artifact with its last one. `settle`: what it is with those that stay. */
  | {
      isRemoved(version: Row<"artifact_versions">): boolean;
      settle(kept: readonly Row<"artifact_versions">[]): ArtifactChange;
    }
  /** Changes the artifact as a whole. `change`: what of it, for the event, and of which version. */
  | { artifact: ArtifactChange; version: string; change: string };

/** What an artifact as a whole becomes by a change of its versions; what is left out stays. */
export interface ArtifactChange {
  description?: string;
  latestVersion?: string;
  /** What the ecosystem keeps of the artifact as a whole, as JSON. */
  state?: string;
}
