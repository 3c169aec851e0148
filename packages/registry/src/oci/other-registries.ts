// What is served from other registries, by the area that stands above this one.
import type { ByteSink } from "@moorage/kernel/blobs";
import type { StandIn } from "../upstreams/index.ts";
import type { StoredManifest } from "./formats/manifest.ts";
import type { PullPlace } from "./names.ts";

/** The source registry of repos that pull through. Callers must have the right to pull from the repo here. */
export interface Upstream {
  /**
   * The manifest of a tag or digest; it is copied soon after. Undefined when the source has none, or the repo has no
   * source. Throws UNAVAILABLE when the source cannot be reached.
   */
  manifest(repo: string, reference: string): Promise<StoredManifest | undefined>;
  /** The size of a blob in bytes. Undefined and errors as for `manifest`. */
  blobSize(repo: string, digest: string): Promise<number | undefined>;
  /**
   * Copies a blob. False when the source has none, or the repo has no source. `begin` is called when the first bytes
   * arrive, unless another request is receiving them already. The sink that it returns receives the bytes while they
   * are stored, the last of them only after the digest was verified.
   */
  blob(repo: string, digest: string, begin: (size: number) => ByteSink): Promise<boolean>;
  /**
   * Copies what may be a signature of the digest, before the digest itself; what was copied lately is not asked for
   * again. Undefined when the repo has no source. Errors as for `manifest`.
   */
  signatures(repo: string, digest: string): Promise<FetchedSignatures | undefined>;
  /** The indexes that came from the source of the repo lately and name the digest. */
  indexesOf(repo: string, digest: string): readonly StoredManifest[];
  /** Notes an index that came from the source of the repo in another way. */
  noteIndex(repo: string, stored: StoredManifest): void;
}

/** How the copying of signatures ended. */
export interface FetchedSignatures {
  /** Why some may not have come; empty when all did. */
  problem: string;
}

/** A manifest that is asked of a group that stands for another registry. */
export interface StandInRequest {
  place: PullPlace & { standIn: StandIn };
  /** A tag or a digest. */
  reference: string;
  /**
   * What the repo holds of that. `checkMs`: when the tag was last compared with the registry's, in milliseconds since
   * 1970; undefined when it was not.
   */
  held: { digest: string; checkMs: number | undefined } | undefined;
}

/** What is answered. */
export interface StandInAnswer {
  /** The manifest; `held` for that which the repo holds, undefined when there is none. */
  manifest: StoredManifest | "held" | undefined;
  /** The uid of the repo; undefined when there is still none. */
  repo: string | undefined;
  /** For the Cache-Status header. Source: RFC 9211. */
  cacheStatus: string;
  /** What people should know, such as that the registry does not answer; empty for nothing. */
  warning: string;
}

/** Groups that stand for other registries. Callers must have the right to pull. */
export interface StandIns {
  /**
   * Which manifest is answered. Throws RESOURCE_EXHAUSTED or UNAVAILABLE, with when to ask again, for what is not here
   * and cannot be fetched now.
   */
  manifest(request: StandInRequest): Promise<StandInAnswer>;
}

/** A pull token of a center, and the names of repositories there that somebody wants to pull with it. */
export interface CenterQuestion {
  /** The user name: an identity's uid there. */
  user: string;
  secret: string;
  names: readonly string[];
  /** Whether it is known what the center said of it lately: then a center that was away just now is not waited for. */
  isHeld: boolean;
}

/** `no`: the token is not good there. `silent`: the center does not answer, or with something else than an answer. */
export type CenterAnswer = { kind: "yes"; names: string[] } | { kind: "no" } | { kind: "silent" };

/** Centers that groups here follow. */
export interface Centers {
  /** What the center says of a pull token; within seconds. */
  ask(standIn: StandIn, question: CenterQuestion): Promise<CenterAnswer>;
}
