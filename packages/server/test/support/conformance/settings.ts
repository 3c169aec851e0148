import type { TestContext } from "node:test";
import type { RegistryClient } from "./client.ts";

/** The parts of the specification that a run expects; the suite's OCI_API_… settings. */
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

/** The versions of the specification that the suite has, OCI_VERSION. */
export const VERSIONS = {
  "1.0": { referrers: false, digestHeader: false, uploadCancel: false, tagParameters: false },
  "1.1": { referrers: true, digestHeader: false, uploadCancel: false, tagParameters: false },
  dev: { referrers: true, digestHeader: true, uploadCancel: true, tagParameters: true },
} satisfies Record<string, Expectations>;

/** One run of the checks: the repositories, the credentials and the version. */
export interface Run {
  client: RegistryClient;
  /** Creates a client without tokens. */
  newClient(): RegistryClient;
  expects: Expectations;
  cachesTokens: boolean;
  /** The repository that content is pushed to, OCI_REPO1. */
  repository: string;
  /** The repository that blobs are mounted from, OCI_REPO2. */
  source: string;
  /** A repository whose policy accepts indexes without all of their manifests; the suite's OCI_DATA_SPARSE. */
  sparse: string;
}

/** Checks of a run, as subtests of `t`. */
export type Checks = (t: TestContext, run: Run) => Promise<void>;
