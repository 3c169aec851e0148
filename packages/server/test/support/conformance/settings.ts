import type { TestContext } from "node:test";
import type { RegistryClient } from "./client.ts";

/** What of the specification a run expects; the suite's OCI_API_… settings. */
export interface Expectations {
  /** OCI-Subject and the referrers API: since 1.1. */
  referrers: boolean;
  /** Docker-Content-Digest in every answer about content: in the draft after 1.1. */
  digestHeader: boolean;
  /** DELETE of an upload: in the draft after 1.1. */
  uploadCancel: boolean;
  /** PUT of a manifest by digest with `tag` parameters, answered with OCI-Tag: in the draft after 1.1. */
  tagParameters: boolean;
}

/** The versions that the suite knows, OCI_VERSION. */
export const VERSIONS = {
  "1.0": { referrers: false, digestHeader: false, uploadCancel: false, tagParameters: false },
  "1.1": { referrers: true, digestHeader: false, uploadCancel: false, tagParameters: false },
  dev: { referrers: true, digestHeader: true, uploadCancel: true, tagParameters: true },
} satisfies Record<string, Expectations>;

/** One run of the checks: against which repositories, as whom, by which version. */
export interface Run {
  client: RegistryClient;
  /** A client that has no token yet. */
  newClient(): RegistryClient;
  expects: Expectations;
  cachesTokens: boolean;
  /** Where content is pushed, OCI_REPO1. */
  repository: string;
  /** Where blobs are mounted from, OCI_REPO2. */
  source: string;
}

/** Checks of a run, as tests below `t`. */
export type Checks = (t: TestContext, run: Run) => Promise<void>;
